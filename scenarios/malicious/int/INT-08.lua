-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-08", name = "Posted while the vCPU is preempted", tags = { "malicious", "interrupt", "lifetime" }, attacker = "host-bug",
  about = "SN is set when VM B's completion comes: its vector waits in PIR without ON until somebody looks.",
  vms = baseline(),
}

-- Entries of the vCPU until the completion was seen; 1000: not within a second.
local function delay(m)
  local B = m:vm("B")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB00 }, "0/0x00")
  local io = B:read { slba = 0, blocks = 8, async = true }
  B:preempt(0)
  m:sleep(ms(1))
  local status
  attack { by = B, sister = m.policy == "mediated", function()
    B:run(0)
    status = io:wait(s(1))
  end }
  return status == "0/0x00" and 1 or 1000
end

function run(m)
  local entries = delay(m)
  measure("vm.completion_delay", entries)
  expect.equal(entries, 1)
end

variant("mutant", { about = "the host clears SN and does not look" }, function(m)
  m:plant("pir_check")
  local entries = delay(m)
  measure("vm.completion_delay", entries)
  measure("no completion within 1 s", entries > 1)
  if m.policy ~= "mediated" then outage() end
end)
