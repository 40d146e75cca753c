-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-09", name = "SQ bound to a missing or foreign CQ", tags = { "malicious", "queue", "admin" }, attacker = "guest-kernel",
  about = "Create I/O Submission Queue with a CQID that is none, that is not created, and that is hardware's number of VM B's.",
  vms = baseline { A = { queues = 3, start_queues = 1 } },
}

-- Status of an SQ 2 whose completions go to @cqid.
local function bind(A, cqid) return queue.create_sq(A, 2, 64, { cdw11 = 1 | cqid << 16 }) end

variant("a", { about = "0, and out of range" }, function(m)
  local A = m:vm("A")
  attack(A, function()
    for _, cqid in ipairs { 0, 4, 200, 0xFFFF } do expect.status(bind(A, cqid), "1/0x01") end
  end)
end)

variant("b", { about = "in range, not created" }, function(m)
  local A = m:vm("A")
  attack(A, function() expect.status(bind(A, 3), "1/0x00") end)
end)

-- Hardware queue 2 is VM B's; VM A's own CQ 2 is another, which it has created or not.
local function foreign(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.equal(B:queue(1).qid, 2, "hardware queue 2 is VM B's")
  attack(A, function()
    expect.status(bind(A, 2), "1/0x00")
    local q = queue.make(A, 2, 64, 64)
    queue.put(q, 0, queue.FLUSH)
    queue.ring_sq(q, 1)
    m:sleep(ms(1))
    expect.equal(queue.completions(q), 1, "it completes in VM A's own queue")
  end)
  expect.status(B:read { slba = 0, blocks = 8 }, "0/0x00")
end

-- The guest's number goes to the SSD as it is.
variant("mutant", { about = "CQIDs are not mapped", attacker = "host-bug" }, function(m)
  m:plant("device_cqid_virtual")
  local A = m:vm("A")
  attack { by = A, sister = m.policy == "mediated", function()
    local q = queue.make(A, 2, 64, 64)
    queue.put(q, 0, queue.FLUSH)
    queue.ring_sq(q, 1)
    m:sleep(ms(1))
    expect.equal(queue.completions(q), m.policy == "mediated" and 1 or 0, "completions in VM A's own queue")
  end }
end)

variant("c", { about = "the hardware's number of VM B's CQ" }, foreign)
