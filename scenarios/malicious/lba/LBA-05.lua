-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-05", name = "NLB off by one at the window's edge", tags = { "malicious", "lba" }, attacker = "guest-kernel",
  about = "Two blocks from the last one of the window: the second is VM C's block 0.",
  vms = baseline(),
}

variant("a", { about = "a user's request through the kernel's driver", attacker = "guest-user" }, function(m)
  local A = m:vm("A")
  attack(A, function() A:user_read { slba = A.lba_count - 1, blocks = 2 } end)
end)

variant("b", { about = "the kernel sends physical 0x2FFFFF, NLB 1" }, function(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  attack(A, function() A:raw { opcode = 0x02, slba = 0x2FFFFF, nlb = 1, prp1 = page }:wait() end)
end)

variant("c", { about = "legal sister case: the last block alone", attacker = "guest-user" }, function(m)
  local A = m:vm("A")
  attack { by = A, sister = true, function()
    expect.status(A:user_read { slba = A.lba_count - 1, blocks = 1 }, "0/0x00")
  end }
end)
