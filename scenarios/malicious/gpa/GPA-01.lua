-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-01", name = "Read into another VM's memory", tags = { "malicious", "gpa", "smoke" }, attacker = "guest-kernel",
  about = "VM A reads its own block with PRP1 inside VM B's memory: one IOMMU domain for all VMs translates it.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local victim = B.memory + 0x2000
  B:fill(victim, 4096, 0xB00)
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xBAD }, "0/0x00")
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = victim }:wait()
  end)
  expect.equal(B:holds(victim, 4096, 0xB00), m.policy ~= "paper", "VM B's page is unchanged")
end
