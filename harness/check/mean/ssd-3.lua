-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-ssd-3", name = "Machines at the limits of ssd", tags = { "malicious" },
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

variant("v1", { machine = { ssd = { acl = 255 } } }, use)
variant("v2", { machine = { ssd = { elpe = 0 } } }, use)
variant("v3", { machine = { ssd = { elpe = 255 } } }, use)
