-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-08", name = "Guest memory that overlaps another's", tags = { "malicious", "iommu", "config" }, attacker = "config",
  about = "A VM whose memory begins 1 MiB before VM A's ends; all share one address space.",
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local vm, why = m:create_vm { name = "D", gpa = A.memory + A.memory_len - (1 << 20) }
  expect.equal(vm, nil)
  expect.equal(why, "EINVAL")
  rejected("backend")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA00 }, "0/0x00")
end

variant("mutant", { about = "the host maps it all the same, over VM A's entries", attacker = "host-bug" }, function(m)
  local A, C = m:vm("A"), m:vm("C")
  local page, victim = A:alloc(1), C:alloc(1)
  C:fill(victim, 4096, 0xC00)
  A:raw { opcode = 0x08, slba = A.lba_base, nlb = 7 }:wait()
  m:iommu_entry { iova = page, hpa = m:frame(C, victim) }
  attack(A, function()
    expect.status(A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = page }:wait(), "0/0x00")
  end)
  expect.false_(C:holds(victim, 4096, 0xC00), "VM C's page is unchanged")
end)
