-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-01", name = "PRP into the interrupt range", tags = { "malicious", "interrupt" }, attacker = "guest-kernel",
  about = "PRP1 = 0xFEE00FFC: the first fragment is one dword write, which as a message selects entry 0x807F + data.",
  vms = baseline(),
}

local function fire(m, dword)
  local A, page = m:vm("A"), m:vm("A"):alloc(2)
  A:store32(page, dword)
  local slba = A.lba_base
  expect.status(A:raw { opcode = 0x01, slba = slba, nlb = 7, prp1 = page }:wait(), "0/0x00")
  attack(A, function()
    A:raw { opcode = 0x02, slba = slba, nlb = 7, prp1 = 0xFEE00FFC, prp2 = page + 4096 }:wait()
  end)
end

variant("a", { about = "baseline: no entry up there" }, function(m) fire(m, 1) end)

variant("b", { about = "an entry is present at 0x8080, posted to VM B" }, function(m)
  local B = m:vm("B")
  m:irte { index = 0x8080, vector = 0x60, vm = B }
  local before = B:interrupts()
  fire(m, 1)
  expect.equal(B:interrupts() - before, m.policy == "paper" and 1 or 0, "interrupts that VM B's queues did not cause")
end)
