-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "controller-lost", name = "The controller does not come back", tags = { "benign", "fault", "reset" },
  about = "A controller that answers no admin command is reset in the middle of two VMs' loads, in vain: all that was asked for, then and later, is failed within 50 ms, and a VM's end does not wait for it.",
  vms = { { name = "A", lbas = 0x2000 }, { name = "B", lbas = 0x2000 } },
}

function run(m)
  local load = {}
  for i, name in ipairs { "A", "B" } do
    load[i] = m:vm(name):workload { depth = 8, blocks = 8, read_percent = 50, span = 0x400, cpu = us(2), may_fail = true }
  end
  m:sleep(ms(2))
  m:fault { kind = "silent", queue = 0, count = 1000 }
  expect.true_(m:reset_controller() ~= "0/0x00", "the reset fails")
  m:sleep(ms(50))
  for i in ipairs(load) do
    expect.true_(load[i]:stop(), "the load ends")
    local r = load[i]:result()
    expect.equal(r.twice + r.outstanding + r.wrong, 0, "nothing completed twice, nothing lost")
    expect.true_(r.errors >= 8, "what was under way has failed")
  end
  expect.true_(m:vm("A"):read { slba = 0, blocks = 8 } ~= "0/0x00", "so does what is asked for later")
  m:destroy(m:vm("A"))
  expect.violations(0)
end
