-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-machine", name = "Machines at the limits of machine", tags = { "malicious" },
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

variant("v1", { machine = { cores = 1 } }, use)
variant("v2", { machine = { cores = 2 } }, use)
variant("v3", { machine = { cores = 64 } }, use)
variant("v4", { machine = { memory = "1G" } }, use)
variant("v5", { machine = { memory = 1 << 30 } }, use)
variant("v6", { machine = { memory = 1 << 40 } }, use)
variant("v7", { machine = { budget = "1M" } }, use)
variant("v8", { machine = { budget = "2M" } }, use)
variant("v9", { machine = { budget = 1 << 40 } }, use)
