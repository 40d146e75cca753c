-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-06", name = "NLB 0xFFFF wraps a 16-bit count", tags = { "malicious", "lba" }, attacker = "guest-kernel",
  about = "65536 blocks in one command: NLB + 1 is 0 in 16 bits, so a careless MDTS check sees no data at all.",
  vms = baseline(),
}

variant("a", { about = "a user's request through the kernel's driver", attacker = "guest-user" }, function(m)
  local A = m:vm("A")
  attack(A, function() A:user_read { slba = 0, blocks = 0x10000, into = A.memory } end)
end)

variant("b", { about = "the kernel sends it" }, function(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0xFFFF, prp1 = page, prp2 = page }:wait()
  end)
end)
