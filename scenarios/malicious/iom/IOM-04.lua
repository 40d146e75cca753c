-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-04", name = "Malformed invalidations", tags = { "malicious", "iommu", "lifetime" }, attacker = "host-bug",
  about = "Descriptors with a mask that is too large, reserved bits, no granularity; an invalidation of another domain.",
  vms = baseline(),
}

local release = include "release"

local IOTLB, PAGES, DOMAIN = 2, 3 << 4, 1 << 16

variant("a", { about = "the queue stops at each, and nothing of it was done" }, function(m)
  local A = m:vm("A")
  expect.status(release.command(A, 0x02), "0/0x00")
  local bad = {
    { IOTLB | PAGES | DOMAIN, 63 },                              -- AM above MAMV
    { IOTLB | PAGES | DOMAIN | 1 << 8, 0 },                      -- reserved, each half
    { IOTLB | PAGES | DOMAIN, 1 << 7 },
    { IOTLB | DOMAIN, 0 },                                       -- granularity 0
    { 1, 0 },                                                    -- of contexts, too
    { 15, 0 },                                                   -- no such type
  }
  attack(A, function()
    for _, d in ipairs(bad) do expect.true_(m:iommu_descriptor(d[1], d[2]), "the queue stopped") end
    local before = m:counters().iotlb_miss
    expect.false_(m:iommu_descriptor(IOTLB | PAGES | DOMAIN + (1 << 16), release.PAGE | 3), "not aligned: no error")
    expect.false_(m:iommu_descriptor(IOTLB | PAGES | DOMAIN + (1 << 16), release.PAGE), "another domain: no error")
    expect.status(release.command(A, 0x02), "0/0x00")
    expect.at_most(m:counters().iotlb_miss - before, 0, "translations that had gone")
  end)
end)

variant("mutant", { about = "the host invalidates another domain and takes that as done" }, function(m)
  m:plant("iommu_domain")
  expect.equal(release.and_use(m, 0x02), m.policy == "mediated", "VM B's new page is unchanged")
end)
