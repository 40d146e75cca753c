-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-03", name = "Interrupt index past 16 bits", tags = { "malicious", "interrupt" }, attacker = "guest-kernel",
  about = "Handle 0x807F and subhandle 0x7F93 add up to 0x10012, which 16 bits would take for VM B's entry 0x12.",
  vms = baseline(),
}

local interrupt = include "interrupt"

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local page, before = interrupt.block(A, 0x7F93), B:interrupts()
  attack(A, function() interrupt.by_prp(A, page) end)
  expect.equal(B:interrupts(), before, "interrupts of VM B's")
end
