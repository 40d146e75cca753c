-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-11", name = "Metadata pointer as a second buffer", tags = { "malicious", "gpa", "metadata" }, attacker = "guest-kernel",
  about = "Blocks have 8 bytes of metadata in a separate buffer. The data's PRPs are VM A's own, MPTR is in VM B's memory.",
  machine = { ssd = { metadata = true } },
  vms = baseline(),
}

local PRACT = 1 << 29     -- the controller makes the protection information itself: what drivers ask for

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local data, victim = A:alloc(1), B.memory + 0x4000
  B:fill(victim, 4096, 0xB00)
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA00 }, "0/0x00")
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = data, mptr = victim }:wait()
  end)
  expect.equal(B:holds(victim, 4096, 0xB00), m.policy ~= "paper", "VM B's page is unchanged")
  expect.status(A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = data, mptr = data + 2 }:wait(), "0/0x02")
  expect.status(A:raw { opcode = 0x02, slba = A.lba_base, cdw12 = 7 | PRACT, prp1 = data }:wait(), "0/0x00")
  expect.holds(A, data, 4096, 0xA00)
end
