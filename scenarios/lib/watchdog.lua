-- SPDX-License-Identifier: GPL-2.0
-- The host's eye on the shared controller: every 100 ms it looks at CSTS, and resets what is fatal.
local M = {}

function M.start(m)
  local dog = {}
  local actor = m:spawn(function()
    while not dog.off do
      m:sleep(ms(100))
      if m.csts & 2 ~= 0 then m:reset_controller() end
    end
  end)
  function dog.stop()
    dog.off = true
    actor:join()
  end
  return dog
end

-- What a reset meant for a victim's workload, which has ended: errors make it an outage, none a delay.
function M.measure(load)
  local r = load:result()
  measure("others.stall", r.stall / s(1))
  measure("lost or doubled writes", r.wrong + r.twice + r.outstanding)
  measure("no guest-visible error", r.errors == 0)
  if r.errors + r.outstanding > 0 then outage() else degraded() end
end

return M
