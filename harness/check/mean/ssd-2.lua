-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-ssd-2", name = "Machines at the limits of ssd", tags = { "malicious" },
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

variant("v1", { machine = { ssd = { nsze = 1 } } }, use)
variant("v2", { machine = { ssd = { nsze = 64 } } }, use)
variant("v3", { machine = { ssd = { nsze = 17179869184 } } }, use)
variant("v4", { machine = { ssd = { ncap = 1 } } }, use)
variant("v5", { machine = { ssd = { ncap = 64 } } }, use)
variant("v6", { machine = { ssd = { namespaces = 1 } } }, use)
variant("v7", { machine = { ssd = { namespaces = 65535 } } }, use)
variant("v8", { machine = { ssd = { cmb = "4K" } } }, use)
variant("v9", { machine = { ssd = { cmb = "64K" } } }, use)
variant("v10", { machine = { ssd = { cmb = "1G" } } }, use)
variant("v11", { machine = { ssd = { oncs = 0 } } }, use)
variant("v12", { machine = { ssd = { oncs = 65535 } } }, use)
variant("v13", { machine = { ssd = { aerl = 0 } } }, use)
variant("v14", { machine = { ssd = { aerl = 255 } } }, use)
variant("v15", { machine = { ssd = { acl = 0 } } }, use)
