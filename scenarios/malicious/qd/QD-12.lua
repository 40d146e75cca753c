-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-12", name = "Duplicate command identifiers", tags = { "malicious", "queue" }, attacker = "guest-kernel",
  about = "Two commands with identifier 7 outstanding in one SQ, a third in another SQ with the same CQ; the first takes longest.",
  vms = baseline { A = { queues = 3, start_queues = 1 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local q = queue.make(A, 2, 64, 64)
  local other = queue.make_sq(A, 3, 64, 2)
  local page = A:alloc(1)
  local read = { opcode = 0x02, cid = 7, slba = A.lba_base, nlb = 0, prp1 = page }
  expect.status(A:write { slba = 0, blocks = 1, tag = 0xA00 }, "0/0x00")
  expect.status(A:raw { opcode = 0x00 }:wait(), "0/0x00")   -- nothing is left to be flushed
  queue.put(q, 0, read)
  queue.put(q, 1, { opcode = 0x00, cid = 7 })
  queue.put(other, 0, { opcode = 0x00, cid = 7 })
  attack(A, function()
    queue.ring_sq(q, 2)
    queue.ring_sq(other, 1)
    m:sleep(us(50))
    expect.equal(queue.completions(q), 2, "the flushes are answered")
    expect.equal(queue.cqe(q, 0).sqid + queue.cqe(q, 1).sqid, q.sqid + other.sqid, "one of each queue, while the read is on its way")
    m:sleep(ms(2))
  end)
  local from = {}
  for slot = 0, queue.completions(q) - 1 do
    local cqe = queue.cqe(q, slot)
    expect.equal(cqe.cid, 7)
    from[cqe.sqid] = (from[cqe.sqid] or 0) + 1
  end
  expect.equal(from[q.sqid], 2, "both of the first queue's are answered")
  expect.equal(from[other.sqid], 1, "and the other queue's, told apart by SQID")
  expect.status(B:read { slba = 0, blocks = 8 }, "0/0x00")
end
