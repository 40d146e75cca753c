-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "reset-teardown", name = "Reset against teardown", tags = { "benign", "race", "reset", "lifetime" },
  about = "The SSD is reset while a VM ends and another's queue is taken: both come to their end, nothing is left behind, and whoever comes next starts clean.",
  machine = { backend = { timeout = ms(20) } },
  vms = {
    { name = "A", memory = "64M", lbas = 0x1000 },
    { name = "B", memory = "64M", lbas = 0x1000 },
  },
  limit = { time = s(5) },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA }, "0/0x00")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB }, "0/0x00")
  local first = A.lba_start
  race(function()
    local load = B:workload { depth = 2, blocks = 8, first = 8, span = 0x100, read_percent = 50, cpu = us(2), may_fail = true }
    local reset = m:spawn(function()
      m:sleep(us(choose { 0, 10 }))
      expect.status(m:reset_controller(), "0/0x00")
    end)
    m:sleep(us(choose { 0, 5, 20, 1000, 1990, 2005, 2020 }))
    m:destroy(A)
    reset:join()
    m:sleep(ms(20))
    expect.true_(load:stop(), "B's load ends")
    local r = load:result()
    expect.equal(r.twice + r.outstanding, 0, "nothing of B's completed twice, nothing is lost")
    if m.policy == "mediated" then expect.equal(r.errors + r.wrong, 0, "replayed: no error") end
  end)
  local status, gpa = B:read { slba = 0, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.holds(B, gpa, 4096, 0xB)
  expect.equal(m:counters().quarantined, 0, "nothing waits for a reset any more")
  local C = m:create_vm { name = "C", memory = "64M", lbas = 0x1000 }
  expect.equal(C.lba_start, first, "A's blocks are C's")
  status, gpa = C:read { slba = 0, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.zero(C, gpa, 4096)
  expect.violations(0)
end
