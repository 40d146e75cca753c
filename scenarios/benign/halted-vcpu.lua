-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "halted-vcpu", name = "A halted vCPU is woken by its queue", tags = { "benign", "interrupt" },
  about = "At depth 1 the guest halts while it waits: the wake-up vector brings it back, each time.",
  vms = { { name = "A", halt_when_idle = true }, { name = "B" } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local function depth_1(vm)
    local load = vm:workload { depth = 1, blocks = 8, span = 0x1000, requests = 200, cpu = us(4) }
    expect.true_(load:join(), "no wake-up is lost")
    return load:result()
  end
  local hlt = A:exits(12)
  local halting, polling = depth_1(A), depth_1(B)
  expect.at_least(A:exits(12) - hlt, 200, "it halted for every request")
  expect.equal(B:exits(12), 0, "the other never did")
  expect.equal(halting.completed + polling.completed, 400)
  expect.at_least(halting.mean, polling.mean, "waking costs time")
  expect.violations(0)
end
