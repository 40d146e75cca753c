-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-02", name = "Another VM's posted entry", tags = { "malicious", "interrupt" }, attacker = "guest-kernel",
  about = "An SGL data block of four bytes at a message address that names VM B's entry; all entries have the one function's source id.",
  machine = { ssd = { sgls = true } },
  vms = baseline(),
}

local interrupt = include "interrupt"

local ENTRY = 0x12                      -- of hardware queue 2, VM B's first

-- 0xFEE00250: handle 0x12. 0xFEE00218: handle 0x10, and the data is added to it.
local function fire(m, addr, dword)
  local A, B = m:vm("A"), m:vm("B")
  local page, before = interrupt.block(A, dword), B:interrupts()
  attack(A, function() interrupt.by_sgl(A, page, addr) end)
  return B:interrupts() - before
end

function run(m)
  local spurious = m.policy == "paper" and 1 or 0
  expect.equal(m:vm("B"):queue(1).qid + 0x10, ENTRY, "the entry is VM B's")
  expect.equal(fire(m, 0xFEE00010 | ENTRY << 5, 0), spurious, "interrupts that VM B's queues did not cause")
  expect.equal(fire(m, 0xFEE00018 | 0x10 << 5, 2), spurious, "interrupts that VM B's queues did not cause")
end
