-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "REM-03", name = "SQ memory of the previous owner", tags = { "malicious", "remanence" }, attacker = "host-bug",
  about = "VM A's queue and its pages are given to VM D, which reads SQEs that it never wrote.",
  vms = baseline { A = { queues = 1 } },
}

-- VM D has what was VM A's. Texts of the entries that VM A used.
local function inherit(m)
  local A = m:vm("A")
  for i = 0, 31 do expect.status(A:write { slba = 8 * i, blocks = 8, tag = 0xA00 + i }, "0/0x00") end
  local q = A:queue(1)
  local left = A:bytes(q.sq_gpa, 64)
  m:destroy(A)
  local D = m:create_vm { name = "D", start = false, gpa = A.memory, lbas = 0x1000 }
  local seen
  attack(D, function()
    expect.status(D:start(), "0/0x00")
    seen = D:bytes(D:queue(1).sq_gpa, 2048)
  end)
  return left, seen
end

function run(m)
  local _, seen = inherit(m)
  expect.equal(seen, ("\0"):rep(2048), "an empty queue")
end

variant("mutant", { about = "the host zeroes neither when it gives memory out nor when it is told to" }, function(m)
  m:plant("pages_zero", "shm_zero")
  local left, seen = inherit(m)
  expect.equal(seen:sub(1, 64), left, "VM A's first command")
end)
