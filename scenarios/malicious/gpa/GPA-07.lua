-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-07", name = "Offset in a later PRP entry", tags = { "malicious", "gpa", "prp" }, attacker = "guest-kernel",
  about = "A read of 3 pages; the last entry of the list has an offset of 0x200. The whole command is refused, without a byte of DMA.",
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local data, list = A:alloc(4), A:alloc(1)
  expect.status(A:write { slba = 0, blocks = 24, tag = 0xA00 }, "0/0x00")
  A:store64(list, data + 0x1000)
  A:store64(list + 8, data + 0x2200)
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0x17, prp1 = data, prp2 = list }:wait()
  end)
  expect.zero(A, data, 4 * 4096)
end
