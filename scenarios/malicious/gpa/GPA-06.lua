-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-06", name = "PRP list rewritten after the check", tags = { "malicious", "gpa", "toctou" }, attacker = "guest-kernel",
  about = "A read of four pages; while it is queued, an entry of its PRP list is turned to VM B's memory, before the device fetches the list.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local data, list, victim = A:alloc(4), A:alloc(1), B.memory + 0x3000
  B:fill(victim, 4096, 0xB00)
  local slba = A.lba_base
  expect.status(A:write { slba = 0, blocks = 32, tag = 0xA00 }, "0/0x00")
  for i = 1, 3 do A:store64(list + 8 * (i - 1), data + 4096 * i) end
  attack(A, function()
    local io = A:raw { opcode = 0x02, slba = slba, nlb = 31, prp1 = data, prp2 = list }
    A:store64(list + 8 * 2, victim)
    io:wait()
  end)
  expect.equal(B:holds(victim, 4096, 0xB00), m.policy ~= "paper", "VM B's page is unchanged")
end
