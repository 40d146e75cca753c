-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-timing-1", name = "Machines at the limits of ssd.timing", tags = { "malicious" },
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

variant("v1", { machine = { ssd = { timing = { fetch = 0 } } } }, use)
variant("v2", { machine = { ssd = { timing = { fetch = s(100) } } } }, use)
variant("v3", { machine = { ssd = { timing = { per_4k = 0 } } } }, use)
variant("v4", { machine = { ssd = { timing = { per_4k = s(100) } } } }, use)
variant("v5", { machine = { ssd = { timing = { read = 0 } } } }, use)
variant("v6", { machine = { ssd = { timing = { read = s(100) } } } }, use)
variant("v7", { machine = { ssd = { timing = { write = 0 } } } }, use)
variant("v8", { machine = { ssd = { timing = { write = s(100) } } } }, use)
variant("v9", { machine = { ssd = { timing = { write_drain = 0 } } } }, use)
variant("v10", { machine = { ssd = { timing = { write_drain = s(100) } } } }, use)
variant("v11", { machine = { ssd = { timing = { flush = 0 } } } }, use)
variant("v12", { machine = { ssd = { timing = { flush = s(100) } } } }, use)
variant("v13", { machine = { ssd = { timing = { fixed = 0 } } } }, use)
variant("v14", { machine = { ssd = { timing = { fixed = s(100) } } } }, use)
variant("v15", { machine = { ssd = { timing = { admin = 0 } } } }, use)
