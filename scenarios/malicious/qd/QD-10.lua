-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-10", name = "Queues deleted in the wrong order", tags = { "malicious", "queue", "admin" }, attacker = "guest-kernel",
  about = "A CQ before its SQ, queue 0, a queue twice. What the SSD still uses stays mapped.",
  vms = baseline { A = { start_queues = 1 } },
}

local DELETE_SQ, DELETE_CQ = 0x00, 0x04

local function delete(A, opcode, qid) return (A:admin { opcode = opcode, cdw10 = qid }) end

variant("a", { about = "the CQ first" }, function(m)
  local A = m:vm("A")
  local q = queue.make(A, 2, 64, 64)
  attack(A, function() expect.status(delete(A, DELETE_CQ, 2), "1/0x0C") end)
  queue.put(q, 0, queue.FLUSH)
  queue.ring_sq(q, 1)
  m:sleep(ms(1))
  expect.equal(queue.completions(q), 1, "the queue pair still works")
end)

variant("b", { about = "queue 0" }, function(m)
  local A = m:vm("A")
  attack(A, function()
    expect.status(delete(A, DELETE_SQ, 0), "1/0x01")
    expect.status(delete(A, DELETE_CQ, 0), "1/0x01")
  end)
end)

variant("c", { about = "an SQ twice" }, function(m)
  local A = m:vm("A")
  queue.make(A, 2, 64, 64)
  expect.status(delete(A, DELETE_SQ, 2), "0/0x00")
  attack(A, function() expect.status(delete(A, DELETE_SQ, 2), "1/0x01") end)
  expect.status(delete(A, DELETE_CQ, 2), "0/0x00")
end)
