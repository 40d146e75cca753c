-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-07", name = "Doorbell access of odd shape", tags = { "malicious", "doorbell" }, attacker = "guest-kernel",
  about = "Stores to a doorbell that are misaligned, too short, or so long that they cover two. A load tells nothing.",
  vms = baseline { A = { start_queues = 1 } },
}

function run(m)
  local A = m:vm("A")
  local q = queue.make(A, 2, 64, 64)
  for slot = 0, 3 do queue.put(q, slot, queue.FLUSH) end
  attack(A, function()
    A:store8(q.sq_doorbell + 1, 1)
    A:store16(q.sq_doorbell + 2, 1)
    A:store32(q.sq_doorbell + 2, 0x00020002)
    A:store64(q.sq_doorbell, 1 | 1 << 32)
    m:sleep(ms(1))
    local first = A:load32(q.sq_doorbell)
    expect.equal(queue.completions(q), 0, "no doorbell was rung")
    queue.ring_sq(q, 3)
    m:sleep(ms(1))
    expect.equal(A:load32(q.sq_doorbell), first, "what a load gives does not change")
  end)
  expect.equal(queue.completions(q), 3)
end
