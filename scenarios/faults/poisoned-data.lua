-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "poisoned-data", name = "Poisoned completion of a data read", tags = { "benign", "fault" },
  about = "What the SSD reads from VM A's memory arrives poisoned: the Write fails and says so, VM B's goes on, and the next try succeeds.",
  vms = { { name = "A", lbas = 0x1000 }, { name = "B", lbas = 0x1000 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA0 }, "0/0x00")
  m:fault { kind = "poisoned", what = "data" }
  local failed = A:write { slba = 0, blocks = 8, tag = 0xA8 }
  expect.equal(m:fault_hits("poisoned", "data"), 1)
  expect.status(failed, "0/0x04")
  expect.false_(m:media_holds(A.lba_start, 8, 0xA8), "nothing poisoned is stored as good")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB0 }, "0/0x00")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA8 }, "0/0x00")
  local status, gpa = A:read { slba = 0, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.holds(A, gpa, 4096, 0xA8)
  expect.violations(0)
end
