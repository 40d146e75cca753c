-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-ssd-1", name = "Machines at the limits of ssd", tags = { "malicious" },
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

variant("v1", { machine = { ssd = { queues = 1 } } }, use)
variant("v2", { machine = { ssd = { queues = 2 } } }, use)
variant("v3", { machine = { ssd = { queues = 511 } } }, use)
variant("v4", { machine = { ssd = { msix = 1 } } }, use)
variant("v5", { machine = { ssd = { msix = 2 } } }, use)
variant("v6", { machine = { ssd = { msix = 512 } } }, use)
variant("v7", { machine = { ssd = { mqes = 1 } } }, use)
variant("v8", { machine = { ssd = { mqes = 2 } } }, use)
variant("v9", { machine = { ssd = { mqes = 65535 } } }, use)
variant("v10", { machine = { ssd = { dstrd = 1 } } }, use)
variant("v11", { machine = { ssd = { dstrd = 9 } } }, use)
variant("v12", { machine = { ssd = { dstrd = 15 } } }, use)
variant("v13", { machine = { ssd = { mdts = 0 } } }, use)
variant("v14", { machine = { ssd = { mdts = 1 } } }, use)
variant("v15", { machine = { ssd = { mdts = 15 } } }, use)
