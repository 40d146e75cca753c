-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "EXH-05", name = "Queues without end", tags = { "malicious", "exhaustion", "queue", "admin" }, attacker = "guest-kernel",
  about = "VM A, which may have 8 queue pairs, asks for 64, creates and deletes in a loop, and stops between Create CQ and Create SQ: once it is reset, once it dies.",
  vms = baseline { B = { queues = 3, start_queues = 1 }, A = { queues = 8, start_queues = 1 } },
}

local function works(m, vm, i)
  local q = queue.make(vm, i, 64, 64)
  queue.put(q, 0, queue.FLUSH)
  queue.ring_sq(q, 1)
  m:sleep(ms(1))
  expect.equal(queue.completions(q), 1, "a command of a queue that was just made")
end

-- Halves: a CQ each, and no SQ.
local function halves(A)
  for i = 2, 8 do expect.status(queue.create_cq(A, i, 64), "0/0x00") end
end

-- All that VM A may have, and 56 more.
local function all(m, A, stride)
  for i = 2, 8 do queue.make(A, i, 64, 64) end
  local before = m:counters().admin_commands
  for i = 9, 64 do
    expect.status(A:admin { opcode = 0x05, cdw10 = i | 63 << 16, cdw11 = 1, prp1 = A:queue(1).cq_gpa + (i - 1) * stride }, "1/0x01")
  end
  expect.equal(m:counters().admin_commands, before, "commands that the SSD got of these")
end

local function delete(A)
  for i = 2, 8 do
    expect.status(A:admin { opcode = 0x00, cdw10 = i }, "0/0x00")
    expect.status(A:admin { opcode = 0x04, cdw10 = i }, "0/0x00")
  end
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local qid, stride = A:queue(8).qid, A:queue(2).slot - A:queue(1).slot
  attack(A, function()
    for _ = 1, 8 do
      all(m, A, stride)
      delete(A)
    end
    all(m, A, stride)
    works(m, B, 2)
    delete(A)
    halves(A)
    A:reg_write(0x14, 0)
    A:stop()
    expect.status(A:start { queues = 1 }, "0/0x00")
    halves(A)
    works(m, B, 3)
    A:kill()
    m:sleep(ms(20))
    local D = m:create_vm { name = "D", queues = 8, lbas = 0x1000 }
    expect.equal(D:queue(8).qid, qid, "VM D has VM A's old hardware queues")
    for i = 1, 8 do expect.status(D:write { slba = 8 * i, blocks = 8, tag = 0xD00, queue = i }, "0/0x00") end
  end)
end
