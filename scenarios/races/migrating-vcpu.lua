-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "migrating-vcpu", name = "vCPU migrates while its descriptor is posted", tags = { "benign", "race", "interrupt" },
  about = "vCPUs halt, are descheduled and move between cores while completions are posted to their descriptors: none is lost.",
  machine = { cores = 16 },
  vms = {
    { name = "A", halt_when_idle = true, memory = "64M", lbas = 0x1000 },
    { name = "B", memory = "64M", lbas = 0x1000 },
  },
  limit = { time = s(2) },
}

function run(m)
  local vms, loads = { m:vm("A"), m:vm("B") }, {}
  race(function()
    for i, vm in ipairs(vms) do
      loads[i] = vm:workload { depth = choose { 1, 2 }, blocks = 8, span = 0x100, requests = 3, cpu = us(1) }
    end
    m:sleep(us(choose { 60, 72, 78, 84 }))
    for round = 1, 3 do
      for i, vm in ipairs(vms) do
        vm:preempt()
        m:sleep(us(choose { 1, 5 }))
        vm:run(0, 4 * i + round)
      end
      m:sleep(us(40))
    end
    for _, load in ipairs(loads) do
      expect.true_(load:join(ms(100)), "no interrupt is lost")
      expect.equal(load:result().completed, 3)
    end
  end)
  expect.violations(0)
end
