-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LIF-05", name = "Doorbell between deletion and next owner", tags = { "malicious", "lifetime", "doorbell" }, attacker = "host-bug",
  about = "VM A rings while its queue is being deleted, and again when VM D has the queue: stale entries must not run there.",
  machine = { ssd = { timing = { admin = us(100) } } },
  vms = baseline { A = { queues = 1, vcpus = 2 } },
}

local function ring_on(m)
  local A = m:vm("A")
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
  local q, go, off, rings = A:queue(1), false, false, 0
  local ringer = m:spawn { vm = A, vcpu = 1, function()
    A:store32(q.sq_doorbell, q.sq_tail)       -- the page is mapped; the value is what it is already
    while not off do
      m:sleep(us(20))
      if go then
        rings = rings + 1
        A:store32(q.sq_doorbell, 5 + rings % 2)
      end
    end
  end }
  m:sleep(us(50))
  attack(A, function()
    go = true
    A:admin { opcode = 0x00, cdw10 = 1 }
    A:admin { opcode = 0x04, cdw10 = 1 }
    if m.policy ~= "mediated" then m:release_queue(A, 1) end
    local D = m:create_vm { name = "D", lbas = 0x1000, start = false }
    if m.policy ~= "mediated" then expect.equal(D:queue(1).qid, q.qid, "VM D has VM A's old hardware queue") end
    expect.equal(D:start(), "0/0x00", "VM D's driver starts")
    m:sleep(ms(1))
    off = true
    ringer:join()
  end)
end

function run(m) ring_on(m) end

variant("mutant", { about = "the host leaves the revocation out" }, function(m)
  m:plant("vm_revoke")
  ring_on(m)
end)
