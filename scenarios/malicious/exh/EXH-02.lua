-- SPDX-License-Identifier: GPL-2.0
local watchdog = include "watchdog"

scenario {
  id = "EXH-02", name = "Queue page unmapped under the SSD", tags = { "malicious", "exhaustion", "lifetime" }, attacker = "host-bug",
  about = "VM A dies with commands in its queue. If the queue's page loses its mapping before the queue is deleted, the next fetch is fatal for the SSD.",
  vms = baseline(),
}

local function crash(m, may_fail, unmap)
  local A, B = m:vm("A"), m:vm("B")
  local load = B:workload { depth = 4, blocks = 8, read_percent = 50, span = 0x1000, cpu = us(2), may_fail = may_fail }
  local slba, page, q = A.lba_base, A:alloc(1), A:queue(1)
  local dog = watchdog.start(m)
  m:sleep(ms(2))
  attack(A, function()
    for i = 0, 63 do A:raw { opcode = 0x02, slba = slba + 8 * i, nlb = 7, prp1 = page } end
    if unmap then m:iommu_unmap(q.sq_iova, 0x10000) end
    A:kill()
    m:sleep(ms(400))
  end)
  dog.stop()
  load:stop()
  return load
end

function run(m)
  crash(m, false, false)
end

variant("mutant", { about = "the host unmaps the queue first" }, function(m)
  watchdog.measure(crash(m, true, true))
end)
