-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-04", name = "SLBA all ones with one block", tags = { "malicious", "lba" }, attacker = "guest-kernel",
  about = "Block 2^64 - 1: a checker that adds one sees block 0, and with VM A's lba_start the sum is VM B's last block, 0x1FFFFF.",
  vms = baseline(),
}

local ALL_ONES = 0xFFFFFFFFFFFFFFFF

local function raw_read(m, slba)
  local A = m:vm("A")
  local page = A:alloc(1)
  attack(A, function() A:raw { opcode = 0x02, slba = slba, nlb = 0, prp1 = page }:wait() end)
end

variant("a", { about = "a user's request through the kernel's driver", attacker = "guest-user" }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.equal(A.lba_start + ALL_ONES, B.lba_start + B.lba_count - 1, "the sum is VM B's last block")
  attack(A, function() A:user_read { slba = ALL_ONES, blocks = 1 } end)
end)

variant("b", { about = "the kernel sends the value as it is" }, function(m) raw_read(m, ALL_ONES) end)
variant("c", { about = "the kernel sends the wrapped sum, 0x1FFFFF, itself" }, function(m) raw_read(m, 0x1FFFFF) end)
