-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QOS-05", name = "Consumer that stopped", tags = { "malicious", "qos", "queue" }, attacker = "guest-kernel",
  about = "VM A puts 63 reads of 128 KiB into each of 7 queues and never looks at its completions; VM B reads as ever.",
  vms = baseline { A = { queues = 8, start_queues = 1 } },
}

local PLACES = 7        -- in a CQ of 8 entries

local function served(m, B)
  local w = B:workload { depth = 16, blocks = 8, span = 0x10000, cpu = us(1) }
  m:sleep(ms(10))
  w:stop()
  return w:result().completed
end

-- Commands of VM A's that have been fetched; under mediated all go through one hardware queue.
local function fetched(m, A)
  local n = 0
  for i = 1, 8 do
    local qid = A:queue(i).qid
    if qid then n = n + m:queue_fetched(qid) end
  end
  return n
end

function run(m)
  local A, B, queues = m:vm("A"), m:vm("B"), {}
  local data, list = A:alloc(32), A:alloc(1)
  expect.status(A:write { slba = 0, blocks = 256, tag = 0xA00 }, "0/0x00")
  for i = 1, 31 do A:store64(list + 8 * (i - 1), data + 4096 * i) end
  for i = 2, 8 do
    local q = queue.make(A, i, 64, PLACES + 1)
    for slot = 0, 62 do queue.put(q, slot, { opcode = 0x02, slba = A.lba_base, nlb = 255, prp1 = data, prp2 = list }) end
    queues[i - 1] = q
  end
  local alone, before = served(m, B), fetched(m, A)
  attack(A, function()
    for i = 1, 7 do queue.ring_sq(queues[i], 63) end
    m:sleep(ms(5))
    expect.at_least(served(m, B), alone * 19 // 20, "VM B's reads beside it")
    for i = 1, 7 do expect.equal(queue.completions(queues[i]), PLACES, "completions in a CQ") end
    expect.equal(fetched(m, A) - before, 7 * PLACES, "commands that the SSD has taken")
  end)
end
