-- SPDX-License-Identifier: GPL-2.0
local dsm = include "dsm"

scenario {
  id = "REM-02", name = "Deallocated is not erased", tags = { "malicious", "remanence" }, attacker = "host-bug",
  about = "On this SSD deallocated blocks go on returning their data. VM B deallocates what it had and ends; VM D gets its blocks.",
  machine = { ssd = { keeps_deallocated = true } },
  vms = baseline(),
}

function run(m)
  local B, zero = m:vm("B"), true
  local start = B.lba_start
  for i = 0, 7 do expect.status(B:write { slba = 8 * i, blocks = 8, tag = 0x5EC4E7 + 8 * i }, "0/0x00") end
  expect.status(dsm.deallocate(B, dsm.page(B, 8, B.lba_base), 8):wait(), "0/0x00")
  expect.true_(m:media_holds(start, 8, 0x5EC4E7), "deallocated, and still there")
  m:destroy(B)
  local D = m:create_vm { name = "D", queues = 2 }
  expect.equal(D.lba_start, start, "VM D has VM B's old blocks")
  attack(D, function()
    for i = 0, 7 do
      local status, gpa = D:read { slba = 8 * i, blocks = 8 }
      expect.status(status, "0/0x00")
      zero = zero and D:holds(gpa, 4096, 0)
    end
  end)
  expect.true_(zero, "VM D reads zeros")
end
