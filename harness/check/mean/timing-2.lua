-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-timing-2", name = "Machines at the limits of ssd.timing", tags = { "malicious" },
  about = "Each key at its ends.",
  vms = { { name = "A", lbas = 64 } }, limit = { time = s(20), events = 3000000 },
}

local function use(m)
  local A = m:vm("A")
  for i = 1, 4 do A:write { slba = i * 8, blocks = 8, tag = i } end
  for i = 1, 4 do A:read { slba = i * 8, blocks = 8 } end
  m:reset_controller()
  A:read { slba = 0, blocks = 1 }
  m:destroy(A)
end

variant("v1", { machine = { ssd = { timing = { admin = s(100) } } } }, use)
variant("v2", { machine = { ssd = { timing = { reset = 0 } } } }, use)
variant("v3", { machine = { ssd = { timing = { reset = s(100) } } } }, use)
variant("v4", { machine = { ssd = { timing = { dies = 1 } } } }, use)
variant("v5", { machine = { ssd = { timing = { dies = 1024 } } } }, use)
