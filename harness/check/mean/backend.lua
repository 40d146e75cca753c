-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-backend", name = "Machines at the limits of backend", tags = { "malicious" },
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

variant("v1", { machine = { backend = { host_lbas = 0 } } }, use)
variant("v2", { machine = { backend = { host_lbas = 1 } } }, use)
variant("v3", { machine = { backend = { host_lbas = 17179869184 } } }, use)
variant("v4", { machine = { backend = { queues = 0 } } }, use)
variant("v5", { machine = { backend = { queues = 1 } } }, use)
variant("v6", { machine = { backend = { queues = 2 } } }, use)
variant("v7", { machine = { backend = { queues = 511 } } }, use)
variant("v8", { machine = { backend = { queue_depth = 2 } } }, use)
variant("v9", { machine = { backend = { queue_depth = 3 } } }, use)
variant("v10", { machine = { backend = { queue_depth = 1024 } } }, use)
variant("v11", { machine = { backend = { timeout = us(1) } } }, use)
variant("v12", { machine = { backend = { timeout = s(100) } } }, use)
variant("v13", { machine = { backend = { dma_offset = true } } }, use)
variant("v14", { machine = { backend = { watch_doorbells = true } } }, use)
