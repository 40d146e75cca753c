-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-06", name = "Bursts and reads in the interrupt range", tags = { "malicious", "interrupt" }, attacker = "guest-kernel",
  about = "A sector's data to 0xFEE00000; a sector's data, and a PRP list, from there.",
  vms = baseline(),
}

local interrupt = include "interrupt"

variant("a", { about = "512 bytes, in TLPs of more than a dword" }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  interrupt.block(A, 2)
  local before, posted = B:interrupts(), m:counters().posted
  attack(A, function() A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0, prp1 = 0xFEE00000 }:wait() end)
  expect.equal(B:interrupts(), before, "interrupts of VM B's")
  expect.at_most(m:counters().posted - posted, 1, "entries used: but for the command's own completion none")
end)

variant("b", { about = "the device reads: data, a list" }, function(m)
  local A = m:vm("A")
  local page = interrupt.block(A, 2)
  attack(A, function()
    expect.status(A:raw { opcode = 0x01, slba = A.lba_base, nlb = 0, prp1 = 0xFEE00000 }:wait(), "0/0x04")
    expect.status(A:raw { opcode = 0x01, slba = A.lba_base, nlb = 23, prp1 = page, prp2 = 0xFEE00000 }:wait(), "0/0x04")
  end)
end)
