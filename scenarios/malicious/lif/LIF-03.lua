-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LIF-03", name = "Stale shadow doorbells after a reset", tags = { "malicious", "lifetime", "reset" }, attacker = "guest-kernel",
  about = "VM A asks for shadow doorbells, resets its controller and looks if anybody still writes there. No controller here offers them.",
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local page, status = A:alloc(2), nil
  attack(A, function()
    status = A:admin { opcode = 0x7C, prp1 = page, prp2 = page + 0x1000 }
  end)
  expect.status(status, "0/0x01")
  A:stop()
  expect.status(A:start(), "0/0x00")
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
  expect.zero(A, page, 0x2000)
end
