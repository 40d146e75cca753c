-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QOS-07", name = "IOTLB thrash between tenants", tags = { "malicious", "qos", "iommu" }, attacker = "guest-user",
  about = "VM A's buffers are spread over 1 GiB, so that its translations push VM B's, which are of three pages, out of the shared IOTLB.",
  machine = { iommu = { iotlb_sets = 32 }, backend = { queue_depth = 32 } },   -- 128 entries
  vms = baseline { A = { memory = "4G" } },
}

local WALK = 280                                -- ns

-- VM B reads at depth 1 beside VM A, whose reads go to so many buffers: mean latency in ns, and misses per translation.
local function beside(m, buffers)
  local A, B = m:vm("A"), m:vm("B")
  local load = A:workload { depth = 16, blocks = 8, span = 0x10000, cpu = us(1), buffers = buffers, verify = false }
  m:sleep(ms(2))
  local hit, miss = m:queue_iotlb(B:queue(1).qid)
  local w = B:workload { depth = 1, blocks = 8, span = 0x10000, cpu = us(1), seed = 7 }
  m:sleep(ms(50))
  w:stop()
  load:stop()
  local hit2, miss2 = m:queue_iotlb(B:queue(1).qid)
  return w:result().mean / ns(1), (miss2 - miss) / (hit2 - hit + miss2 - miss)
end

function run(m)
  attack(m:vm("A"), function()
    local quiet, before = beside(m, 1)
    local thrashed, rate = beside(m, 262144)
    measure("b.iotlb_miss_rate", rate)
    measure("b.iotlb_miss_rate reported", rate > before)
    measure("b.added_latency", thrashed - quiet)
    measure("one full walk per page", 3 * WALK)  -- SQE, data, CQE
    if rate > before then degraded() end
  end)
end
