-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "REM-04", name = "CQ memory with stale phase bits", tags = { "malicious", "remanence" }, attacker = "host-bug",
  about = "VM A's CQ pages are given to VM D: entries that still have the phase bit set would be taken for completions.",
  vms = baseline { A = { queues = 1 } },
}

-- Entries with the phase bit that VM D finds before it has sent anything.
local function poll(m)
  local A, found = m:vm("A"), 0
  for i = 0, 31 do expect.status(A:read { slba = 8 * i, blocks = 8 }, "0/0x00") end
  m:destroy(A)
  local D = m:create_vm { name = "D", start = false, gpa = A.memory, lbas = 0x1000 }
  attack(D, function()
    expect.status(D:start(), "0/0x00")
    local cq = D:queue(1).cq_gpa
    for i = 0, 31 do found = found + (D:load32(cq + 16 * i + 12) >> 16 & 1) end
  end)
  return found
end

function run(m) expect.equal(poll(m), 0, "completions of nothing") end

variant("mutant", { about = "the host zeroes neither when it gives memory out nor when it is told to" }, function(m)
  m:plant("pages_zero", "shm_zero")
  expect.at_least(poll(m), 1, "completions of nothing")
end)
