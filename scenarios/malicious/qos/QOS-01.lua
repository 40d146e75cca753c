-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QOS-01", name = "Queue-count unfairness", tags = { "malicious", "qos" }, attacker = "guest-user",
  about = "VM A keeps 8 queues full, VM B has one: round robin per queue gives VM B a ninth of the arbitration.",
  machine = { backend = { queue_depth = 32 } },
  vms = baseline { A = { queues = 8, vcpus = 8 } },
}

-- VM A's load: 8 queues of 32.
local function flood(A)
  local w = {}
  for q = 1, 8 do w[q] = A:workload { queue = q, depth = 32, blocks = 8, read_percent = 100, span = 0x10000, cpu = us(1) } end
  return w
end

-- Commands of the VM that the controller has fetched; under mediated all go through one hardware queue.
local function fetched(m, vm, queues)
  local n = 0
  for q = 1, queues do
    local qid = vm:queue(q).qid
    if qid then n = n + m:queue_fetched(qid) end
  end
  return n
end

local function stop(list)
  for _, w in ipairs(list) do w:stop() end
end

local function p99_at_depth_1(m, B)
  local w = B:workload { queue = 1, depth = 1, blocks = 8, read_percent = 100, span = 0x10000, cpu = us(1) }
  m:sleep(ms(30))
  w:stop()
  return w:result().p99
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local alone = p99_at_depth_1(m, B)
  attack(A, function()
    local load = flood(A)
    m:sleep(ms(2))
    local beside = p99_at_depth_1(m, B)
    -- Both have more to do than the controller can: who is served how often?
    local greedy = B:workload { queue = 1, depth = 60, blocks = 8, read_percent = 100, span = 0x10000, cpu = us(1) }
    m:sleep(ms(5))
    local a, b = fetched(m, A, 8), fetched(m, B, 1)
    m:sleep(ms(20))
    a, b = fetched(m, A, 8) - a, fetched(m, B, 1) - b
    greedy:stop()
    stop(load)
    measure("b.p99_slowdown", beside / alone)
    measure(m.policy == "mediated" and "b.share" or "b.arbitration_share", b / (a + b))
    measure("weight", 1 / 2)
    degraded()
  end)
end
