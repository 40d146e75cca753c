-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ignored-invalidation", name = "An IOTLB that keeps what was invalidated", tags = { "benign", "fault", "iommu" },
  about = "The IOMMU completes invalidations and forgets nothing. VM A's memory becomes VM C's: A's queue was deleted before, so no DMA of A's is left to use what the cache kept.",
  vms = { { name = "A", lbas = 0x1000, memory = "64M" }, { name = "B", lbas = 0x1000, memory = "64M" } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(A:write { slba = 0, blocks = 64, tag = 0xA00 }, "0/0x00")
  local ios = {}
  for i = 1, 6 do ios[i] = A:read { slba = 8 * i, blocks = 8, async = true } end
  m:fault { kind = "invalidation_ignored", what = "iotlb", count = 1000000 }
  m:destroy(A)
  expect.at_least(m:fault_hits("invalidation_ignored"), 1)
  local C = m:create_vm { name = "C", queues = 1, lbas = 0x1000, memory = "64M" }
  local page = C:alloc(8)
  C:fill(page, 8 * 4096, 0xC00)
  m:sleep(ms(2))
  expect.holds(C, page, 8 * 4096, 0xC00)
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB0 }, "0/0x00")
  expect.violations(0)
end
