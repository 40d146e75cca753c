-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-iommu", name = "Machines at the limits of iommu", tags = { "malicious" },
  about = "Each key at its ends.",
  vms = { { name = "A", lbas = 64 } }, limit = { time = s(20), events = 3000000 },
}

local function use(m)
  local A = m:vm("A")
  for i = 1, 4 do A:write { slba = i * 8, blocks = 8, tag = i } end
  for i = 1, 4 do A:read { slba = i * 8, blocks = 8 } end
  m:reset_controller()
  A:read { slba = 0, blocks = 1 }
  m:destroy(A)
end

variant("v1", { machine = { iommu = { iotlb_sets = 1 } } }, use)
variant("v2", { machine = { iommu = { iotlb_sets = 3 } } }, use)
variant("v3", { machine = { iommu = { iotlb_sets = 7 } } }, use)
variant("v4", { machine = { iommu = { iotlb_sets = 64 } } }, use)
variant("v5", { machine = { iommu = { iotlb_miss = 0 } } }, use)
variant("v6", { machine = { iommu = { iotlb_miss = s(100) } } }, use)
variant("v7", { machine = { iommu = { invalidation = 0 } } }, use)
variant("v8", { machine = { iommu = { invalidation = ms(1) } } }, use)
variant("v9", { machine = { iommu = { invalidation = s(1) } } }, use)
variant("v10", { machine = { iommu = { invalidation = s(100) } } }, use)
variant("v11", { machine = { iommu = { posted_interrupts = false } } }, use)
