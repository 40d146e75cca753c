-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-01", name = "PRP into the interrupt range", tags = { "malicious", "interrupt" }, attacker = "guest-kernel",
  about = "PRP1 = 0xFEE00FFC: the first fragment is one dword write, which as a message selects entry 0x807F + data.",
  vms = baseline(),
}

local interrupt = include "interrupt"

local function fire(m, dword)
  local A = m:vm("A")
  local page = interrupt.block(A, dword)
  attack(A, function() interrupt.by_prp(A, page) end)
end

variant("a", { about = "baseline: no entry up there" }, function(m) fire(m, 1) end)

variant("b", { about = "an entry is present at 0x8080, posted to VM B" }, function(m)
  local B = m:vm("B")
  m:irte { index = 0x8080, vector = 0x60, vm = B }
  local before = B:interrupts()
  fire(m, 1)
  expect.equal(B:interrupts() - before, m.policy == "paper" and 1 or 0, "interrupts that VM B's queues did not cause")
end)
