-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "transfer-sizes", name = "Reads and writes from one block to MDTS", tags = { "benign" },
  about = "Every power of two from 512 bytes to 128 KiB, at aligned and odd blocks; one block more than MDTS is refused.",
  vms = { { name = "A" } },
}

function run(m)
  local A = m:vm("A")
  for _, first in ipairs { 0, 4093 } do
    local blocks, tag = 1, 0x100000 + first
    while blocks <= 256 do
      expect.status(A:write { slba = first, blocks = blocks, tag = tag }, "0/0x00")
      local status, gpa = A:read { slba = first, blocks = blocks }
      expect.status(status, "0/0x00")
      expect.holds(A, gpa, blocks * 512, tag)
      expect.true_(m:media_holds(A.lba_start + first, blocks, tag), "on the medium")
      blocks, tag = blocks * 2, tag + 0x1000
    end
  end
  local page = A:alloc(33)
  expect.status(A:raw { opcode = 0x02, slba = A.lba_base, nlb = 256, prp1 = page, prp2 = page + 4096 }:wait(), "0/0x02")
  expect.violations(0)
end
