-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "revoked-page", name = "Page revoked under a store", tags = { "benign", "race", "ept" },
  about = "A vCPU of VM A stores to its queue's pages and doorbell while they are taken away; then the queue is VM C's, and A stores again: nothing of C's is reached.",
  vms = {
    { name = "A", vcpus = 2, memory = "64M", lbas = 0x1000 },
    { name = "B", memory = "64M", lbas = 0x1000 },
  },
  limit = { time = s(2) },
}

local function storm(A, q)
  for i = 1, 3 do
    A:store64(q.sq_gpa + 64 * i, 0xBAD0000 + i)
    A:store32(q.sq_doorbell, 0)
  end
end

function run(m)
  local A = m:vm("A")
  local q = A:queue(1)
  race(function()
    if choose(2) == 1 then storm(A, q) end      -- translations are cached, or still to be made
    local late = m:spawn { vm = A, vcpu = 1, function() storm(A, q) end }
    m:sleep(us(choose { 0, 1, 2, 4 }))
    if m.policy == "mediated" then
      expect.status(A:admin { opcode = 0x00, cdw10 = 1 }, "0/0x00")     -- Delete SQ, by the guest's other vCPU
    else
      expect.status(m:release_queue(A, 1), "0/0x00")
    end
    late:join()
  end)
  local C = m:create_vm { name = "C", queues = 1, memory = "64M", lbas = 0x1000 }
  expect.status(C:write { slba = 8, blocks = 8, tag = 0xC }, "0/0x00")
  storm(A, q)
  local status, gpa = C:read { slba = 8, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.holds(C, gpa, 4096, 0xC)
  expect.violations(0)
end
