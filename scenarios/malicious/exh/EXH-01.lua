-- SPDX-License-Identifier: GPL-2.0
local watchdog = include "watchdog"

scenario {
  id = "EXH-01", name = "Invalid doorbell brings the shared SSD down", tags = { "malicious", "exhaustion" }, attacker = "guest-kernel",
  about = "VM A writes 0xFFFF to its SQ tail doorbell over and over while VM B works.",
  vms = baseline(),
}

local function storm(m, may_fail)
  local A, B = m:vm("A"), m:vm("B")
  local load = B:workload { depth = 4, blocks = 8, read_percent = 50, span = 0x1000, cpu = us(2), may_fail = may_fail }
  local dog = watchdog.start(m)
  m:sleep(ms(2))
  attack(A, function()
    local doorbell = A:queue(1).sq_doorbell
    for _ = 1, 100 do A:store32(doorbell, 0xFFFF) end
    m:sleep(ms(400))
  end)
  dog.stop()
  load:stop()
  return load
end

variant("a", { about = "an SSD by the book ignores the value" }, function(m)
  storm(m, false)
end)

variant("b", { about = "a fragile SSD is fatal until it is reset", machine = { ssd = { fragile_doorbells = true } } }, function(m)
  local load = storm(m, m.policy ~= "mediated")
  if m.policy ~= "mediated" then watchdog.measure(load) end
end)
