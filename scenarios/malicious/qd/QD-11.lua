-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-11", name = "Completion queue full", tags = { "malicious", "queue" }, attacker = "guest-kernel",
  about = "63 reads with a completion queue of two entries, whose head stands still for 1 ms and then moves by one at a time.",
  vms = baseline { A = { start_queues = 1 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local q = queue.make(A, 2, 64, 2)
  local page = A:alloc(1)
  for slot = 0, 62 do
    queue.put(q, slot, { opcode = 0x02, slba = A.lba_base + slot, nlb = 0, prp1 = page })
  end
  local seen, head, phase = {}, 0, 1
  attack(A, function()
    queue.ring_sq(q, 63)
    m:sleep(ms(1))
    expect.equal(queue.completions(q), 1, "one entry, and no more")
    expect.status(B:read { slba = 0, blocks = 8 }, "0/0x00")
    for _ = 1, 63 do
      local cqe = queue.cqe(q, head)
      expect.equal(cqe.phase, phase, "an entry is there")
      seen[cqe.cid] = (seen[cqe.cid] or 0) + 1
      head = (head + 1) % 2
      if head == 0 then phase = 1 - phase end
      queue.ring_cq(q, head)
      m:sleep(us(200))
    end
  end)
  for cid = 0, 62 do expect.equal(seen[cid], 1, "each command completes once") end
end
