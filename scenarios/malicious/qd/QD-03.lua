-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-03", name = "SQ tail out of range", tags = { "malicious", "doorbell" }, attacker = "guest-kernel",
  about = "Tails of a 64-entry SQ that are past its end; and 0x00010001, whose upper half is reserved and masked.",
  vms = baseline { A = { start_queues = 1 } },
}

function run(m)
  local A = m:vm("A")
  local q = queue.make(A, 2, 64, 64)
  queue.put(q, 0, queue.FLUSH)
  attack(A, function()
    for _, tail in ipairs { 64, 0xFFFF, 0xFFFFFFFF } do queue.ring_sq(q, tail) end
    m:sleep(ms(1))
    expect.equal(queue.completions(q), 0, "nothing is fetched past the queue's end")
    queue.ring_sq(q, 0x00010001)
    m:sleep(ms(1))
  end)
  expect.equal(queue.completions(q), 1, "the masked tail is 1")
  expect.status(queue.cqe(q, 0).status, "0/0x00")
end
