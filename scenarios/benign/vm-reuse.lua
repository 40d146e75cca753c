-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "vm-reuse", name = "A VM ends, its resources serve another", tags = { "benign", "lifetime" },
  about = "Ten times over: a VM comes up, writes under load and is destroyed with requests in flight. The next gets the same blocks, empty.",
  vms = { { name = "keeper" } },
}

function run(m)
  local keeper, start = m:vm("keeper"), nil
  local load = keeper:workload { depth = 4, blocks = 8, read_percent = 50, span = 0x1000, cpu = us(2) }
  for i = 1, 10 do
    local vm = m:create_vm { name = "guest" .. i, queues = 2, lbas = 0x10000 }
    start = start or vm.lba_start
    expect.equal(vm.lba_start, start, "the same blocks again")
    local status, gpa = vm:read { slba = 64, blocks = 8 }
    expect.status(status, "0/0x00")
    expect.zero(vm, gpa, 4096)
    vm:workload { queue = 2, depth = 16, blocks = 8, read_percent = 0, span = 0x1000, cpu = us(1), may_fail = true }
    m:sleep(us(300))
    m:destroy(vm)
  end
  expect.true_(load:stop(), "the neighbour's load ends")
  local r = load:result()
  expect.equal(r.errors + r.wrong + r.twice, 0, "the neighbour never noticed")
  expect.equal(m:counters().quarantined, 0)
  expect.violations(0)
end
