-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-04", name = "CQ head out of range, or ahead", tags = { "malicious", "doorbell" }, attacker = "guest-kernel",
  about = "A 32-entry CQ with 4 completions unread: heads 32, 9 (frees what was not posted) and 0 (no change) change nothing.",
  vms = baseline { A = { start_queues = 1 } },
}

function run(m)
  local A = m:vm("A")
  local q = queue.make(A, 2, 64, 32)
  for slot = 0, 62 do queue.put(q, slot, queue.FLUSH) end
  queue.ring_sq(q, 4)
  m:sleep(ms(1))
  expect.equal(queue.completions(q), 4)
  -- All that could be wrong with the count of free entries shows when the queue is full.
  attack(A, function()
    queue.ring_cq(q, 32)
    queue.ring_cq(q, 9)
    queue.ring_sq(q, 63)
    m:sleep(ms(2))
    expect.equal(queue.completions(q), 31, "as many as entries but one")
    queue.ring_cq(q, 0)
    m:sleep(ms(1))
  end)
  expect.equal(queue.cqe(q, 31).phase, 0, "and no more")
  queue.ring_cq(q, 4)
  m:sleep(ms(2))
  expect.equal(queue.cqe(q, 31).phase, 1, "... and four more when four were read")
  expect.equal(queue.cqe(q, 3).phase, 1, "the fifth entry of the next round is not there yet")
  expect.equal(queue.cqe(q, 2).phase, 0)
end
