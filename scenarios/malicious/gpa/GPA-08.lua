-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-08", name = "PRP2 as data, not page aligned", tags = { "malicious", "gpa", "prp" }, attacker = "guest-kernel",
  about = "A read of 2 pages; PRP2 is the second and has an offset of 8.",
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local data = A:alloc(3)
  expect.status(A:write { slba = 0, blocks = 16, tag = 0xA00 }, "0/0x00")
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0xF, prp1 = data, prp2 = data + 0x1008 }:wait()
  end)
  expect.zero(A, data, 3 * 4096)
end
