-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "controller-reset", name = "Reset of the shared controller", tags = { "benign", "reset" },
  about = "The host resets the SSD with requests in flight: every VM's queues come back within a bound; under mediated nobody sees more than a delay.",
  vms = { { name = "A" }, { name = "B" } },
}

function run(m)
  local load = {}
  for i, name in ipairs { "A", "B" } do
    local vm = m:vm(name)
    expect.status(vm:write { slba = 0x2000, blocks = 8, tag = 0x100 * i }, "0/0x00")
    load[i] = vm:workload { depth = 8, blocks = 8, read_percent = 50, span = 0x1000, cpu = us(2), may_fail = m.policy ~= "mediated" }
  end
  m:sleep(ms(1))
  expect.status(m:reset_controller(), "0/0x00")
  m:sleep(ms(20))
  for i, name in ipairs { "A", "B" } do
    local vm = m:vm(name)
    expect.true_(load[i]:stop(), "the load ends")
    local r = load[i]:result()
    expect.equal(r.twice + r.outstanding, 0, "nothing completed twice, nothing lost")
    if m.policy == "mediated" then expect.equal(r.errors + r.wrong, 0, "replayed: no error") end
    local status, gpa = vm:read { slba = 0x2000, blocks = 8 }
    expect.status(status, "0/0x00")
    expect.holds(vm, gpa, 4096, 0x100 * i)
  end
  expect.equal(m:counters().resets > 0, true)
  expect.violations(0)
end
