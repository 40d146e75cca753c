-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EPT-03", name = "Mappings zapped under a running queue", tags = { "malicious", "ept" }, attacker = "host-bug",
  about = "The host takes all mappings of the CMB away for reasons of its own (a change of memory slots); VM A goes on using its queue.",
  vms = baseline(),
}

local function go_on(m)
  local A = m:vm("A")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA11 }, "0/0x00")
  m:zap(A)
  local io
  attack(A, function()
    io = A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = A:alloc(1) }
    m:sleep(ms(5))
  end)
  return io:wait(ms(1))
end

function run(m)
  expect.status(go_on(m), "0/0x00")
  expect.at_most(m:vm("A").most_faults, 64, "faults at one page")
end

variant("mutant", { about = "a page is answered once and never again" }, function(m)
  m:plant("page_again")
  local status = go_on(m)
  local A = m:vm("A")
  for _ = 1, 20 do A:load32(A:queue(1).cq_gpa) end
  measure("faults_same_gpa", A.most_faults)
  if status == "timeout" then outage() end
end)
