-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "stalled-vcpu", name = "A vCPU that gets no core", tags = { "benign", "fault", "interrupt" },
  about = "VM A's vCPU is off its core for 3 ms, three times, with requests in flight: they are complete when it is back, each once, and VM B is no slower for it.",
  vms = { { name = "A", lbas = 0x1000 }, { name = "B", lbas = 0x1000 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local function load(vm, n) return vm:workload { depth = 4, blocks = 8, span = 0x400, requests = n, cpu = us(1) } end
  local alone = load(B, 100)
  expect.true_(alone:join())
  local a, b = load(A, 100), load(B, 100)
  for round = 1, 3 do
    m:fault { kind = "vcpu_stall", vm = A, time = ms(3) }
    m:sleep(ms(3) + us(500))
  end
  expect.true_(a:join() and b:join(), "both end")
  local r = a:result()
  expect.equal(r.completed, 100)
  expect.equal(r.errors + r.wrong + r.twice, 0)
  expect.at_most(b:result().mean, 2 * alone:result().mean, "B does not wait for A's vCPU")
  expect.violations(0)
end
