-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "bound-queue", name = "Queue rung while it is made", tags = { "benign", "race", "doorbell" }, policies = { "siov" },
  about = "The host forgot to take a doorbell from VM A; VM A rings while the queue is made for VM B. The SSD must not fetch before the queue is bound: without PASID the fetch would be fatal for all.",
  vms = {
    { name = "A", vcpus = 2, memory = "64M", lbas = 0x1000 },
  },
  machine = { ssd = { timing = { admin = us(20) } } },
  limit = { time = s(2) },
}

local function ring_on(m, bug)
  local A = m:vm("A")
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
  local q = A:queue(1)
  m:plant("vm_revoke")
  expect.status(m:release_queue(A, 1), "0/0x00")
  local B = m:create_vm { name = "B", queues = 1, memory = "64M", lbas = 0x1000, start = false }
  expect.equal(B:queue(1).qid, q.qid, "VM B has VM A's old hardware queue")
  if bug then m:plant(bug) end
  local started, rings = nil, 0
  race(function()
    local late = m:spawn { vm = A, vcpu = 1, function()
      m:sleep(us(choose { 0, 3, 6, 9, 12 }))
      local after = 0
      while after < 3 do
        after = started and after + 1 or 0
        rings = rings + 1
        A:store32(q.sq_doorbell, 1 + rings % 2)
        m:sleep(us(15))
      end
    end }
    started = B:start()
    late:join()
  end)
  expect.violations(rings)              -- VM A's, which the host should not have let through
  return started, m:ssd_reg(0x1C, 4) & 2
end

function run(m)
  local started, fatal = ring_on(m)
  expect.equal(started, "0/0x00")
  expect.equal(fatal, 0, "fatal status")
end

-- That the rings would be seen: a queue that is not bound at all.
variant("unbound", { about = "the host does not bind it" }, function(m)
  local _, fatal = ring_on(m, "backend_siov_bind_sq")
  expect.equal(fatal, 2, "fatal status")
end)
