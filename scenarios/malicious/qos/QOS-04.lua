-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QOS-04", name = "Urgent queue asked for by a guest", tags = { "malicious", "qos", "admin" }, attacker = "guest-kernel",
  about = "VM A creates its SQ with QPRIO 00b, urgent, and keeps it full; VM B's queue must get its turns all the same.",
  machine = { backend = { queue_depth = 32 } },
  vms = baseline(),
}

local function served(m, B)
  local w = B:workload { depth = 32, blocks = 8, span = 0x10000, cpu = us(1) }
  m:sleep(ms(10))
  w:stop()
  return w:result().completed
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local alone, q = served(m, B), A:queue(2)
  expect.status(A:admin { opcode = 0x00, cdw10 = 2 }, "0/0x00")
  expect.equal(A:reg_read(0x00) >> 17 & 3, 0, "CAP.AMS offers no weights")
  attack(A, function()
    A:admin { opcode = 0x01, cdw10 = 2 | 0xFF << 16, cdw11 = 1 | 0 << 1 | 2 << 16, prp1 = q.sq_gpa }
  end)
  local urgent = A:workload { queue = 1, depth = 32, blocks = 8, span = 0x10000, cpu = us(1) }
  expect.at_least(served(m, B), alone // 3, "VM B's commands beside it")
  urgent:stop()
end
