-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "controller-fatal", name = "The controller gives up under load", tags = { "benign", "fault", "reset" },
  about = "CSTS.CFS in the middle of two VMs' loads: after the host's reset both go on with all data that was acknowledged; nothing completes twice, nothing is quarantined.",
  vms = { { name = "A", lbas = 0x2000 }, { name = "B", lbas = 0x2000 } },
}

function run(m)
  local load = {}
  for i, name in ipairs { "A", "B" } do
    local vm = m:vm(name)
    expect.status(vm:write { slba = 0x1000, blocks = 8, tag = 0x100 * i }, "0/0x00")
    load[i] = vm:workload { depth = 8, blocks = 8, read_percent = 50, span = 0x400, cpu = us(2), may_fail = m.policy ~= "mediated" }
  end
  m:fault { kind = "fatal", after = 40 }
  m:sleep(ms(2))
  expect.equal(m:fault_hits("fatal"), 1)
  expect.status(m:reset_controller(), "0/0x00")
  m:sleep(ms(20))
  for i, name in ipairs { "A", "B" } do
    local vm = m:vm(name)
    expect.true_(load[i]:stop(), "the load ends")
    local r = load[i]:result()
    expect.equal(r.twice + r.outstanding, 0, "nothing completed twice, nothing lost")
    if m.policy == "mediated" then expect.equal(r.errors + r.wrong, 0, "replayed: no error") end
    local status, gpa = vm:read { slba = 0x1000, blocks = 8 }
    expect.status(status, "0/0x00")
    expect.holds(vm, gpa, 4096, 0x100 * i)
  end
  expect.equal(m:counters().quarantined, 0)
  expect.violations(0)
end
