-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "silent-admin", name = "The controller answers no admin command", tags = { "benign", "fault", "lifetime" },
  about = "VM A ends while the SSD completes nothing on its admin queue: the end has a bound, its queue goes to quarantine and its blocks to nobody, VM B goes on; a reset gives all back, wiped.",
  machine = { backend = { timeout = ms(20) } },
  vms = { { name = "A", lbas = 0x1000 }, { name = "B", lbas = 0x1000 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local first = A.lba_start
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA0 }, "0/0x00")
  m:fault { kind = "silent", queue = 0, count = 1000 }
  local before = m:now()
  m:destroy(A)
  expect.at_most(m:now() - before, ms(200), "a teardown has a bound")
  expect.equal(m:counters().quarantined, 1, "what is not known to be quiet is nobody's")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB0 }, "0/0x00")
  m:fault { kind = "silent", count = 0 }
  expect.status(m:reset_controller(), "0/0x00")
  m:sleep(ms(20))
  expect.equal(m:counters().quarantined, 0)
  local C = m:create_vm { name = "C", lbas = 0x1000 }
  expect.equal(C.lba_start, first, "A's blocks are C's")
  local status, gpa = C:read { slba = 0, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.zero(C, gpa, 4096)
  expect.status(B:write { slba = 8, blocks = 8, tag = 0xB8 }, "0/0x00")
  expect.violations(0)
end
