-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "preempted-vcpu", name = "Completions while the vCPU is off its core", tags = { "benign", "interrupt" },
  about = "The vCPU is descheduled with requests in flight: completions are posted without a notification and seen when it runs again.",
  policies = { "paper", "nrd", "siov" },
  vms = { { name = "A" } },
}

function run(m)
  local A = m:vm("A")
  expect.status(A:write { slba = 0, blocks = 64, tag = 0x10 }, "0/0x00")
  for round = 1, 20 do
    local ios = {}
    for i = 1, 8 do ios[i] = A:read { slba = 8 * (i - 1), blocks = 8, async = true } end
    A:preempt()
    m:sleep(us(200 + 10 * round))
    A:run()
    for i = 1, 8 do expect.status(ios[i]:wait(ms(1)), "0/0x00") end
  end
  expect.violations(0)
end
