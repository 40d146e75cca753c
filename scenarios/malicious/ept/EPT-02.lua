-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EPT-02", name = "Stale translation on a second vCPU", tags = { "malicious", "ept", "lifetime" }, attacker = "host-bug",
  about = "vCPU 1 of VM A has the doorbell's translation cached. The queue is taken away while vCPU 0 runs, given to VM D, and vCPU 1 rings.",
  vms = baseline { A = { queues = 1, vcpus = 2 } },
}

local function ring_from_the_other(m)
  local A = m:vm("A")
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
  local q, go, done = A:queue(1), false, false
  local ringer = m:spawn { vm = A, vcpu = 1, function()
    A:store32(q.sq_doorbell, q.sq_tail)       -- cached from here on
    while not go do m:sleep(us(10)) end
    A:store32(q.sq_doorbell, 5)
    done = true
  end }
  m:sleep(us(50))
  expect.status(A:admin { opcode = 0x00, cdw10 = 1 }, "0/0x00")
  expect.status(A:admin { opcode = 0x04, cdw10 = 1 }, "0/0x00")
  if m.policy ~= "mediated" then expect.status(m:release_queue(A, 1), "0/0x00") end
  local D = m:create_vm { name = "D", lbas = 0x1000 }
  if m.policy ~= "mediated" then expect.equal(D:queue(1).qid, q.qid, "VM D has VM A's old hardware queue") end
  attack(A, function()
    go = true
    ringer:join()
    m:sleep(ms(1))
  end)
end

function run(m) ring_from_the_other(m) end

variant("mutant", { about = "only vCPU 0's core is told to forget translations" }, function(m)
  m:plant("shootdown")
  ring_from_the_other(m)
end)
