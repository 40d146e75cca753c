-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-08", name = "Guest memory that overlaps another's", tags = { "malicious", "iommu", "config" }, attacker = "config",
  about = "A VM whose memory begins 1 MiB before VM A's ends; all share one address space.",
  vms = baseline(),
}

-- With an address space a VM both may have memory at one address: each reaches its own.
local function overlap_is_legal(m)
  local A = m:vm("A")
  local shared = A.memory + A.memory_len - (1 << 20)
  local D = m:create_vm { name = "D", gpa = shared }
  A:fill(shared, 4096, 0xA00)
  D:fill(shared, 4096, 0xD00)
  expect.status(D:write { slba = 0, blocks = 8, tag = 0xDD0 }, "0/0x00")
  attack { by = D, sister = true, function()
    expect.status(D:raw { opcode = 0x02, slba = D.lba_base, nlb = 7, prp1 = shared }:wait(), "0/0x00")
  end }
  expect.holds(D, shared, 4096, 0xDD0)
  expect.holds(A, shared, 4096, 0xA00)
end

function run(m)
  if m.policy == "siov" then return overlap_is_legal(m) end
  local A = m:vm("A")
  local vm, why = m:create_vm { name = "D", gpa = A.memory + A.memory_len - (1 << 20) }
  expect.equal(vm, nil)
  expect.equal(why, "EINVAL")
  rejected("backend")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA00 }, "0/0x00")
end

variant("mutant", { about = "the host maps it all the same, over VM A's entries", attacker = "host-bug" }, function(m)
  if m.policy == "siov" then return overlap_is_legal(m) end
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
