-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-05", name = "Number of Queues", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "Set Features 07h asks for all queues there can be, and once more when a queue exists.",
  vms = baseline { A = { start = false } },
}

local admin = include "admin"

local function ask(q, count) return admin.command(q, { opcode = 0x09, cdw10 = 0x07, cdw11 = count << 16 | count }) end

variant("a", { about = "0xFFFF, which is no number" }, function(m)
  local A, before = m:vm("A"), m:counters().admin_commands
  attack(A, function() expect.status(ask(admin.open(A), 0xFFFF), "0/0x02") end)
  expect.equal(m:counters().admin_commands, before, "nothing was forwarded")
end)

variant("b", { about = "0xFFFE: what is granted is what was reserved" }, function(m)
  local A, before = m:vm("A"), m:counters().admin_commands
  attack(A, function()
    local status, granted = ask(admin.open(A), 0xFFFE)
    expect.status(status, "0/0x00")
    expect.equal(granted, 1 << 16 | 1, "two queues of each kind, zero-based")
  end)
  expect.equal(m:counters().admin_commands, before, "nothing was forwarded")
end)

variant("c", { about = "after a queue was created", vms = baseline() }, function(m)
  local A, before = m:vm("A"), m:counters().admin_commands
  attack(A, function() expect.status(A:admin { opcode = 0x09, cdw10 = 0x07, cdw11 = 0xFFFEFFFE }, "0/0x0C") end)
  expect.equal(m:counters().admin_commands, before, "nothing was forwarded")
  expect.status(A:write { slba = 0, blocks = 8, tag = 1 }, "0/0x00")
end)
