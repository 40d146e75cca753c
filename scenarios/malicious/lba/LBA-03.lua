-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-03", name = "64-bit wrap when lba_start is added", tags = { "malicious", "lba" }, attacker = "guest-kernel",
  about = "Relative block 0xFFFFFFFFFFF00000: with VM A's lba_start 0x200000 the sum wraps to VM B's block 0x100000.",
  vms = baseline(),
}

local WRAPS = 0xFFFFFFFFFFF00000

variant("a", { about = "a user's request through the kernel's driver", attacker = "guest-user" }, function(m)
  local A = m:vm("A")
  expect.equal(A.lba_start + WRAPS, m:vm("B").lba_start, "the sum wraps to VM B")
  attack(A, function() A:user_read { slba = WRAPS, blocks = 8 } end)
end)

variant("b", { about = "the kernel sends the value as it is" }, function(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  attack(A, function() A:raw { opcode = 0x02, slba = WRAPS, nlb = 7, prp1 = page }:wait() end)
end)

variant("c", { about = "the kernel sends the wrapped sum itself" }, function(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  attack(A, function() A:raw { opcode = 0x02, slba = 0x200000 + WRAPS, nlb = 7, prp1 = page }:wait() end)
end)
