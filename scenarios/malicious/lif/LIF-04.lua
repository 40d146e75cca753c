-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LIF-04", name = "Resets without end", tags = { "malicious", "lifetime", "reset" }, attacker = "guest-kernel",
  about = "VM A resets its function with I/O in flight, over and over, and between that deletes its queue and toggles CC.EN.",
  vms = baseline(),
}

local function p99(m, B, first)
  local w = B:workload { depth = 4, blocks = 8, read_percent = 50, first = first, span = 0x10000, cpu = us(1) }
  m:sleep(ms(300))
  w:stop()
  return w:result().p99
end

-- Offset of the PCI Express capability.
local function pcie(vm)
  local off = vm:cfg_read(0x34) & 0xFC
  while vm:cfg_read(off) & 0xFF ~= 0x10 do off = vm:cfg_read(off) >> 8 & 0xFC end
  return off
end

local function spam(m, A, state)
  local cap, bar0, cmb, page = pcie(A), A:cfg_read(0x10), A:cfg_read(0x18), A:alloc(1)
  while not state.off do
    for i = 0, 7 do A:raw { opcode = 0x02, slba = A.lba_base + 8 * i, nlb = 7, prp1 = page } end
    local n = state.resets % 3
    if n == 0 then A:cfg_write(cap + 8, A:cfg_read(cap + 8) & 0xFFFF | 0x8000) end
    if n == 1 then A:reg_write(0x14, 0, 4) end
    if n == 2 then A:admin { opcode = 0x00, cdw10 = 2 } end
    m:sleep(ms(1))
    A:stop()
    A:cfg_write(0x10, bar0)
    A:cfg_write(0x18, cmb)
    A:start()
    state.resets = state.resets + 1
  end
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local alone, state = p99(m, B, 0), { resets = 0 }
  attack(A, function()
    local before, start = m:counters().admin_commands, m:now()
    local actor = m:spawn(function() spam(m, A, state) end)
    local slowdown = p99(m, B, 0x10000) / alone
    local seconds = (m:now() - start) / s(1)
    state.off = true
    actor:join()
    expect.at_least(state.resets, 30, "resets")
    if m.policy == "mediated" then
      expect.equal(m:counters().admin_commands, before, "none of it reached the SSD")
      return
    end
    -- 500 creations a second once 60 are used up; for each a deletion, and under nrd and siov a binding.
    measure("others.p99_slowdown", slowdown)
    measure("physical create/delete rate capped per VM", m:counters().admin_commands - before <= 3 * (60 + 500 * seconds) + (m.policy == "siov" and 60 or 0))
    if m:counters().admin_commands > before then degraded() end
  end)
end
