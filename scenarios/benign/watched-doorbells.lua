-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "watched-doorbells", name = "Doorbells in memory that the host watches", tags = { "benign", "doorbells" },
  about = "A mediated VM rings by a store to memory and takes no exit for it; a stock driver beside it goes on trapping. Queues come back after a reset of the function, and after one of the SSD.",
  policies = { "mediated" },
  machine = { backend = { watch_doorbells = true } },
  vms = { { name = "A", queues = 2 }, { name = "stock", driver = "stock", depth = 64 } },
}

function run(m)
  local A, S = m:vm("A"), m:vm("stock")
  expect.status(A:write { slba = 8, blocks = 8, tag = 0xA }, "0/0x00")
  expect.status(S:write { slba = 8, blocks = 8, tag = 0x5 }, "0/0x00")
  local load = {}
  for q = 1, 2 do
    load[q] = A:workload { queue = q, depth = 16, blocks = 8, read_percent = 50, first = q * 0x1000, span = 0x1000, requests = 1000, cpu = us(2) }
  end
  load[3] = S:workload { depth = 16, blocks = 8, read_percent = 50, span = 0x1000, first = 0x1000, requests = 1000, cpu = us(2) }
  m:sleep(us(500))
  expect.status(m:reset_controller(), "0/0x00")
  for i = 1, 3 do
    expect.true_(load[i]:join())
    local r = load[i]:result()
    expect.equal(r.errors + r.wrong + r.twice + r.outstanding, 0, "a doorbell was lost, or a command")
  end
  -- A queue that starts anew has a doorbell of 0, whatever its predecessor's was.
  for i = 1, 3 do
    A:stop()
    expect.status(A:start(), "0/0x00")
    local status, gpa = A:read { slba = 8, blocks = 8 }
    expect.status(status, "0/0x00")
    expect.holds(A, gpa, 4096, 0xA)
  end
  expect.violations(0)
end
