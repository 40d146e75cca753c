-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-02", name = "Write steals another VM's memory", tags = { "malicious", "gpa" }, attacker = "guest-kernel",
  about = "VM A writes VM B's page to its own disk, then reads it back into its own memory.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local victim, page = B.memory + 0x2000, A:alloc(1)
  B:fill(victim, 4096, 0x5EC4E7)
  attack(A, function()
    A:raw { opcode = 0x01, slba = A.lba_base, nlb = 7, prp1 = victim }:wait()
  end)
  A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = page }:wait()
  expect.equal(A:holds(page, 4096, 0x5EC4E7), m.policy == "paper", "VM A has VM B's page")
end
