-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "REM-06", name = "CMB content across tenants", tags = { "malicious", "remanence", "cmb" }, attacker = "host-bug",
  about = "VM A fills its slot of the CMB with a pattern; the slot's pages are given to VM D.",
  vms = baseline { A = { queues = 1 } },
}

local pattern = ("SECRET!\n"):rep(512)

local function reassign(m)
  local A, seen = m:vm("A"), ""
  A:set_bytes(A:queue(1).sq_gpa + 0x1000, pattern)
  m:destroy(A)
  local D = m:create_vm { name = "D", start = false, gpa = A.memory, lbas = 0x1000 }
  attack(D, function()
    expect.status(D:start(), "0/0x00")
    seen = D:bytes(D:queue(1).sq_gpa + 0x1000, 4096)
  end)
  return seen
end

function run(m) expect.equal(reassign(m), ("\0"):rep(4096), "an empty slot") end

variant("mutant", { about = "the host zeroes neither when it gives memory out nor when it is told to" }, function(m)
  m:plant("pages_zero", "shm_zero")
  expect.equal(reassign(m), pattern, "VM A's pattern")
end)
