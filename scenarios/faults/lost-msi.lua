-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "lost-msi", name = "An interrupt that never comes", tags = { "benign", "fault", "interrupt" },
  about = "The message of VM A's completion is lost: the request stands until the queue's next interrupt, then both are there, once; VM B notices nothing.",
  vms = { { name = "A", lbas = 0x1000 }, { name = "B", lbas = 0x1000 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA0 }, "0/0x00")
  m:fault { kind = "msi_lost" }
  local page = A:alloc(1)
  local io = A:read { slba = 0, blocks = 8, into = page, async = true }
  expect.equal(io:wait(ms(5)), "timeout", "nobody tells the guest")
  expect.equal(m:fault_hits("msi_lost"), 1)
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB0 }, "0/0x00")
  expect.status(A:read { slba = 8, blocks = 8 }, "0/0x00")
  expect.status(io:wait(ms(1)), "0/0x00")
  expect.holds(A, page, 4096, 0xA0)
  local load = A:workload { depth = 4, blocks = 8, first = 0x400, span = 0x400, requests = 50, cpu = us(1) }
  expect.true_(load:join(), "it goes on")
  expect.equal(load:result().twice, 0)
  expect.violations(0)
end
