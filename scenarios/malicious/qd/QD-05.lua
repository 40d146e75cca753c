-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-05", name = "SQ tail repeated, or backwards", tags = { "malicious", "doorbell" }, attacker = "guest-kernel",
  about = "A 64-entry SQ whose head is 10: tail 10 again names nothing; tail 9 names 63 entries, old ones and empty ones.",
  vms = baseline { A = { start_queues = 1 } },
}

local function at_ten(m)
  local q = queue.make(m:vm("A"), 2, 64, 128)
  for slot = 0, 9 do queue.put(q, slot, queue.FLUSH) end
  queue.ring_sq(q, 10)
  m:sleep(ms(1))
  expect.equal(queue.completions(q), 10)
  return q
end

variant("a", { about = "the same tail twice" }, function(m)
  local q = at_ten(m)
  attack(m:vm("A"), function()
    queue.ring_sq(q, 10)
    queue.ring_sq(q, 10)
    m:sleep(ms(1))
  end)
  expect.equal(queue.completions(q), 10, "no command was fetched")
end)

variant("b", { about = "backwards by one" }, function(m)
  local q = at_ten(m)
  attack(m:vm("A"), function()
    queue.ring_sq(q, 9)
    m:sleep(ms(5))
  end)
  expect.equal(queue.completions(q), 10 + 63, "as many as entries but one")
  expect.violations(0)
end)
