-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "LIF-06", name = "Abort against completion", tags = { "malicious", "lifetime", "queue" }, attacker = "guest-kernel",
  about = "VM A loses patience with a Compare: it asks for its Abort around the time of its completion, and uses its identifier again at once.",
  vms = baseline { A = { queues = 3, start_queues = 1 } },
}

local ABORT, COMPARE, CID = 0x08, 0x05, 7
local UNEQUAL, ABORTED = "2/0x85", "0/0x07"

-- A Compare that fails; @patience later two Flushes of its identifier, behind it and in another SQ of its CQ, and its Abort.
local function round(m, q, other, i, patience)
  local first = 3 * i
  queue.put(q, 2 * i, { opcode = COMPARE, cid = CID, slba = q.vm.lba_base, nlb = 7, prp1 = q.zeros })
  queue.put(q, 2 * i + 1, { opcode = 0x00, cid = CID })
  queue.put(other, i, { opcode = 0x00, cid = CID })
  queue.ring_sq(q, 2 * i + 1)
  m:sleep(patience)
  local late = queue.completions(q) > first
  queue.ring_sq(q, 2 * i + 2)
  queue.ring_sq(other, i + 1)
  m:sleep(us(2))
  local status, dw0 = q.vm:admin { opcode = ABORT, cdw10 = CID << 16 | 2 }
  expect.status(status, "0/0x00")
  m:sleep(ms(1))
  expect.equal(queue.completions(q), first + 3, "one completion for each command")
  local seen = {}
  for slot = first, first + 2 do
    local cqe = queue.cqe(q, slot)
    local what = cqe.sqid .. ": " .. cqe.status
    expect.equal(cqe.cid, CID)
    seen[what] = (seen[what] or 0) + 1
  end
  expect.equal(seen[other.sqid .. ": 0/0x00"], 1, "the other SQ's Flush")
  if dw0 & 1 == 0 then
    expect.equal(seen[q.sqid .. ": " .. ABORTED], 1, "one was aborted, as the Abort says")
  else
    expect.equal(seen[q.sqid .. ": " .. UNEQUAL], 1, "the Compare")
    expect.equal(seen[q.sqid .. ": 0/0x00"], 1, "the Flush behind it")
  end
  return late
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local q, rounds = queue.make(A, 2, 64, 128), { [true] = 0, [false] = 0 }
  local other = queue.make_sq(A, 3, 64, 2)
  q.zeros = A:alloc(1)
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA00 }, "0/0x00")
  expect.status(A:flush {}, "0/0x00")
  attack(A, function()
    for i = 0, 30 do
      local late = round(m, q, other, i, us(4 * i))
      rounds[late] = rounds[late] + 1
    end
  end)
  expect.at_least(rounds[false], 5, "Aborts before the Compare had ended")
  expect.at_least(rounds[true], 5, "Aborts after that")
  expect.status(B:read { slba = 0, blocks = 8 }, "0/0x00")
end
