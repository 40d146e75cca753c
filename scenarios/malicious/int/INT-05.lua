-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-05", name = "Source-id verification left off", tags = { "malicious", "interrupt" }, attacker = "host-bug",
  about = "VM A has another function for itself, which sends the message that names VM B's entry.",
  vms = baseline(),
}

local ENTRY = 0x12                      -- of hardware queue 2, VM B's first

-- Interrupts of VM B's that the message made.
local function fire(m, rid)
  local A, B = m:vm("A"), m:vm("B")
  local fn, before = m:add_function { rid = rid, vm = A }, B:interrupts()
  attack(A, function()
    fn:write32(0xFEE00010 | ENTRY << 5, 0)
    m:sleep(us(10))
  end)
  return B:interrupts() - before
end

variant("a", { about = "SVT = 1, SQ = 0; the second function differs in what SQ = 3 would pass over" }, function(m)
  expect.equal(fire(m, 0x0200), 0, "interrupts of VM B's")
  expect.equal(fire(m, 0x0101), 0, "interrupts of VM B's")
end)

variant("b", { about = "SVT = 3 is reserved" }, function(m)
  m:irte { index = ENTRY, edit = true, svt = 3 }
  expect.equal(fire(m, 0x0200), 0, "interrupts of VM B's")
end)

variant("mutant", { about = "SVT = 0: nobody's id is looked at" }, function(m)
  m:irte { index = ENTRY, edit = true, svt = 0 }
  expect.equal(fire(m, 0x0200), m.policy == "mediated" and 0 or 1, "interrupts of VM B's")
  expect.status(m:vm("B"):write { slba = 0, blocks = 8, tag = 0xB00 }, "0/0x00")
end)
