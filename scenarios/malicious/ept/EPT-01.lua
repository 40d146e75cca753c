-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EPT-01", name = "Queue reassigned, old mapping kept", tags = { "malicious", "ept", "lifetime" }, attacker = "host-bug",
  about = "VM A's queue is taken away and given to VM D; VM A stores an SQE at the old address and rings the old doorbell.",
  vms = baseline { A = { queues = 1 } },
}

local function reassign_and_use(m)
  local A = m:vm("A")
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")   -- pages are mapped now
  local q = A:queue(1)
  expect.status(A:admin { opcode = 0x00, cdw10 = 1 }, "0/0x00")   -- Delete SQ
  expect.status(A:admin { opcode = 0x04, cdw10 = 1 }, "0/0x00")   -- Delete CQ
  if m.policy ~= "mediated" then expect.status(m:release_queue(A, 1), "0/0x00") end
  local D = m:create_vm { name = "D", queues = 1 }
  if m.policy ~= "mediated" then
    expect.equal(D:queue(1).qid, q.qid, "VM D has VM A's old hardware queue")
  end
  expect.status(D:read { slba = 0, blocks = 8 }, "0/0x00")
  attack(A, function()
    A:store64(q.sq_gpa, 0x02)
    A:store32(q.sq_doorbell, 1)
    m:sleep(ms(1))
  end)
end

function run(m) reassign_and_use(m) end

variant("mutant", { about = "the host leaves the revocation out", policies = { "paper", "nrd", "siov" } }, function(m)
  m:plant("vm_revoke")
  reassign_and_use(m)
end)
