-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-09", name = "A vCPU moves with its descriptor", tags = { "malicious", "interrupt", "lifetime" }, attacker = "host-bug",
  about = "VM B's vCPU goes from core to core while its commands are at work; it idles in HLT between them.",
  vms = baseline { B = { halt_when_idle = true } },
}

-- Entries until a completion was seen; 1000: not within a second.
local function delay(m)
  local B, worst = m:vm("B"), 1
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB00 }, "0/0x00")
  attack { by = B, sister = m.policy == "mediated", function()
    for core = 8, 11 do
      local io = B:read { slba = 0, blocks = 8, async = true }
      B:migrate(0, core)
      if io:wait(s(1)) ~= "0/0x00" then worst = 1000 break end
    end
  end }
  return worst
end

function run(m)
  local entries = delay(m)
  measure("vm.completion_delay", entries)
  expect.equal(entries, 1)
end

variant("mutant", { about = "the descriptor keeps the old core" }, function(m)
  m:plant("vcpu_ndst")
  local entries = delay(m)
  measure("vm.completion_delay", entries)
  measure("no completion within 1 s", entries > 1)
  if m.policy ~= "mediated" then outage() end
end)
