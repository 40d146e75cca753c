-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "function-reset", name = "FLR of the virtual function", tags = { "benign", "reset" },
  about = "A VM resets its function in the middle of its life; it comes up again, its data is there, its neighbour goes on.",
  vms = { { name = "A" }, { name = "B" } },
}

-- Offset of the PCI Express capability.
local function pcie(vm)
  local off = vm:cfg_read(0x34) & 0xFC
  while off ~= 0 and vm:cfg_read(off) & 0xFF ~= 0x10 do off = vm:cfg_read(off) >> 8 & 0xFC end
  return off
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local load = B:workload { depth = 8, blocks = 8, read_percent = 50, span = 0x1000, cpu = us(2) }
  expect.status(A:write { slba = 8, blocks = 8, tag = 0x8 }, "0/0x00")
  local cap, bar0, cmb = pcie(A), A:cfg_read(0x10), A:cfg_read(0x18)
  expect.different(cap, 0, "there is a PCI Express capability")
  expect.different(A:cfg_read(cap + 4) & 1 << 28, 0, "it offers FLR")
  A:cfg_write(cap + 8, A:cfg_read(cap + 8) & 0xFFFF | 0x8000)
  m:sleep(ms(100))
  expect.equal(A:reg_read(0x1C) & 1, 0, "CSTS.RDY is 0")
  A:stop()
  A:cfg_write(0x10, bar0)
  A:cfg_write(0x18, cmb)
  expect.status(A:start(), "0/0x00")
  local status, gpa = A:read { slba = 8, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.holds(A, gpa, 4096, 0x8)
  expect.true_(load:stop())
  local r = load:result()
  expect.equal(r.errors + r.wrong + r.twice, 0, "the neighbour never noticed")
  expect.violations(0)
end
