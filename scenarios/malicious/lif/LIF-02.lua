-- SPDX-License-Identifier: GPL-2.0
local watchdog, dsm = include "watchdog", include "dsm"

scenario {
  id = "LIF-02", name = "A reset needed by one VM hits all", tags = { "malicious", "lifetime", "reset" }, attacker = "guest-kernel",
  about = "VM A sends a legal command that this SSD's firmware dies of. The host must toggle CC.EN, and all queues of all VMs are gone.",
  machine = { ssd = { fragile_dsm = true } },
  vms = baseline(),
}

local function hang(m, after)
  local A, B = m:vm("A"), m:vm("B")
  local load = B:workload { depth = 8, blocks = 8, read_percent = 50, span = 0x1000, cpu = us(2), may_fail = true }
  local page = dsm.page(A, 256, A.lba_base)
  m:sleep(ms(2))
  attack(A, function()
    dsm.deallocate(A, page, 256)
    after(load)
  end)
  return load
end

function run(m)
  local dog = watchdog.start(m)
  local load = hang(m, function() m:sleep(ms(400)) end)
  dog.stop()
  load:stop()
  watchdog.measure(load)
end

variant("mutant", { about = "the host toggles CC.EN and tells nobody", attacker = "host-bug" }, function(m)
  hang(m, function(load)
    m:sleep(ms(1))
    m:toggle_enable()
    local before = load:result().completed
    m:sleep(s(3))
    local resumes = load:result().completed > before
    measure("others.io resumes", resumes)
    if not resumes then outage() end
  end)
end)
