-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-11", name = "Byte offset overflows behind the check", tags = { "malicious", "lba" }, attacker = "guest-kernel",
  about = "Block 2^55, and 2^55 + 8: in bytes, shifted by 9, they are 0 and 0x1000 in 64 bits, which is the host's.",
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  A:fill(page, 4096, 0xA00)
  for _, slba in ipairs { 1 << 55, (1 << 55) + 8 } do
    attack(A, function()
      expect.status(A:raw { opcode = 0x02, slba = slba, nlb = 0, prp1 = page }:wait(), "0/0x80")
    end)
  end
  expect.holds(A, page, 4096, 0xA00)
end
