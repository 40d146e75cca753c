-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-12", name = "PASID of a VM that is gone", tags = { "malicious", "iommu", "lifetime" }, attacker = "host-bug",
  about = "VM A ends, its frames are VM E's, its PASID is VM D's. VM D names the addresses that VM A had: what was cached for VM A must be gone.",
  policies = { "siov" }, vms = baseline(),
}

-- Did VM E's page stay as it was?
local function again(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  expect.status(A:raw { opcode = 0x08, slba = 0, nlb = 7 }:wait(), "0/0x00")
  expect.status(A:raw { opcode = 0x02, slba = 0, nlb = 7, prp1 = page }:wait(), "0/0x00")     -- the translation is cached
  local off, pasid = page - A.memory, A.pasid
  m:destroy(A)
  -- Of VM A's frames the first 64 MiB are VM D's, the others VM E's.
  local D = m:create_vm { name = "D", lbas = 0x1000, memory = "64M" }
  expect.equal(D.pasid, pasid, "VM D has VM A's PASID")
  local E = m:create_vm { name = "E", lbas = 0x1000, memory = "960M" }
  local theirs = E.memory + off - (64 << 20)
  E:fill(theirs, 4096, 0xE00)
  D:raw { opcode = 0x08, slba = 0, nlb = 7 }:wait()
  attack(D, function() D:raw { opcode = 0x02, slba = 0, nlb = 7, prp1 = page }:wait() end)
  return E:holds(theirs, 4096, 0xE00)
end

function run(m)
  expect.true_(again(m), "VM E's page is unchanged")
end

variant("mutant", { about = "the host forgets nothing: neither when memory goes nor when the PASID does" }, function(m)
  m:plant("iommu_sync", "host_pasid_flush_iotlb")
  expect.false_(again(m), "VM E's page is unchanged")
end)
