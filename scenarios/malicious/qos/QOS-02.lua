-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QOS-02", name = "Flood of large writes", tags = { "malicious", "qos" }, attacker = "guest-user",
  about = "VM A writes 128 KiB at a time, one behind the other, 256 at once; VM B reads 4 KiB at a time. Under mediated a VM's work is bounded.",
  machine = { backend = { queue_depth = 32 } },
  vms = baseline { A = { work_per_s = 400000 } },
}

local function p999(m, B)
  local w = B:workload { depth = 1, blocks = 8, span = 0x10000, cpu = us(1) }
  m:sleep(ms(200))
  w:stop()
  return w:result().p999
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local alone = p999(m, B)
  attack(A, function()
    local flood = A:workload { depth = 256, blocks = 256, read_percent = 0, random = false, span = 0x40000, cpu = us(1), verify = false }
    m:sleep(ms(20))
    local slowdown = p999(m, B) / alone
    flood:stop()
    measure("b.p999_slowdown", slowdown)
    if slowdown > 1 then degraded() end
  end)
end
