-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "copy", name = "Copy inside the window", tags = { "benign", "copy" },
  about = "Two source ranges are put one after the other, and what is copied is the VM's own under every policy.",
  machine = { ssd = { oncs = 0x10D } },
  vms = { { name = "A" }, { name = "B" } },
}

function run(m)
  local B = m:vm("B")                       -- not the first: blocks differ from the SSD's
  expect.status(B:write { slba = 0x100, blocks = 16, tag = 0x10 }, "0/0x00")
  expect.status(B:write { slba = 0x200, blocks = 8, tag = 0x20 }, "0/0x00")
  local ranges = B:alloc(1)
  B:store64(ranges + 8, B.lba_base + 0x200)
  B:store16(ranges + 16, 7)
  B:store64(ranges + 32 + 8, B.lba_base + 0x100)
  B:store16(ranges + 32 + 16, 15)
  expect.status(B:raw { opcode = 0x19, slba = B.lba_base + 0x1000, cdw12 = 1, prp1 = ranges }:wait(), "0/0x00")
  local status, gpa = B:read { slba = 0x1000, blocks = 24 }
  expect.status(status, "0/0x00")
  expect.holds(B, gpa, 8 * 512, 0x20)
  expect.holds(B, gpa + 8 * 512, 16 * 512, 0x10)
  expect.violations(0)
end
