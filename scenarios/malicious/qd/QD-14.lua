-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-14", name = "Non-contiguous queue", tags = { "malicious", "queue", "admin" }, attacker = "guest-kernel",
  about = "Create I/O Submission Queue with PC = 0 and a list of pages whose second entry is VM B's memory.",
  vms = baseline { A = { start_queues = 1 } },
}

local function create(m)
  local A, B = m:vm("A"), m:vm("B")
  local list = A:alloc(1)
  A:store64(list, A:alloc(1))
  A:store64(list + 8, B.memory + 0x2000)
  expect.status(queue.create_cq(A, 2, 128), "0/0x00")
  attack(A, function()
    expect.different(queue.create_sq(A, 2, 128, { cdw11 = 2 << 16, prp1 = list }), "0/0x00", "such a queue is not made")
  end)
end

variant("a", { about = "an SSD that wants contiguous queues" }, create)
variant("b", { about = "an SSD that does not", machine = { ssd = { cqr = false } } }, create)
