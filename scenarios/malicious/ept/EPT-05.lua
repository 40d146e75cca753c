-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EPT-05", name = "Queue page freed while it is mapped", tags = { "malicious", "ept", "remanence" }, attacker = "host-bug",
  about = "The pages of VM A's deleted queue go back to the host, which uses them for VM D's; VM A reads at the old address.",
  vms = baseline { A = { queues = 1 } },
}

local function read_on(m)
  local A = m:vm("A")
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
  local q = A:queue(1)
  A:load64(q.sq_gpa)
  expect.status(A:admin { opcode = 0x00, cdw10 = 1 }, "0/0x00")
  expect.status(A:admin { opcode = 0x04, cdw10 = 1 }, "0/0x00")
  if m.policy ~= "mediated" then expect.status(m:release_queue(A, 1), "0/0x00") end
  local D = m:create_vm { name = "D", lbas = 0x1000 }
  expect.status(D:write { slba = 0, blocks = 8, tag = 0xD }, "0/0x00")
  local seen
  attack(A, function() seen = A:load64(q.sq_gpa) end)
  return seen
end

function run(m) expect.equal(read_on(m), -1, "nothing answers") end

variant("mutant", { about = "the host leaves the revocation out", policies = { "paper", "nrd", "siov" } }, function(m)
  m:plant("vm_revoke")
  expect.different(read_on(m), -1, "the page is still mapped")
end)
