-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-01", name = "DMA after unmap", tags = { "malicious", "iommu", "lifetime" }, attacker = "host-bug",
  about = "VM A gives a page back, the host hands it to VM B, VM A goes on naming it in commands.",
  vms = baseline(),
}

local release = include "release"

function run(m)
  expect.true_(release.and_use(m, 0x02), "VM B's new page is unchanged")
end

variant("mutant", { about = "the host leaves the invalidation out" }, function(m)
  m:plant("iommu_sync")
  expect.equal(release.and_use(m, 0x02), m.policy == "mediated", "VM B's new page is unchanged")
end)
