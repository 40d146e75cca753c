-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EXH-09", name = "Queue that refills itself", tags = { "malicious", "exhaustion" }, attacker = "guest-kernel",
  about = "VM A's second vCPU moves the tail on while the SSD drains the queue, all of it immediate errors; VM B must get its turns.",
  vms = baseline { A = { vcpus = 2 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local q, off = A:queue(1), false
  local load = B:workload { depth = 4, blocks = 8, span = 0x1000, cpu = us(1) }
  m:sleep(ms(5))
  local alone = load:result().completed
  attack(A, function()
    -- Entries of an opcode that there is not, all round the ring, and a consumer that never looks at what it frees.
    for i = 0, q.entries - 1 do A:store32(q.sq_gpa + 64 * i, 0x7F | i << 16) end
    local tail, head = q.sq_tail, q.cq_head
    local refill = m:spawn { vm = A, vcpu = 1, function()
      while not off do
        tail, head = (tail + 64) % q.entries, (head + 64) % q.entries
        A:store32(q.sq_doorbell, tail)
        m:sleep(us(50))
        A:store32(q.cq_doorbell, head)
      end
    end }
    m:sleep(ms(5))
    off = true
    refill:join()
    expect.at_least(load:result().completed - alone, alone // 3, "VM B's commands beside it")
  end)
  load:stop()
end
