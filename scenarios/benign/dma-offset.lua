-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "dma-offset", name = "VMs with the same guest-physical addresses", tags = { "benign" },
  about = "A hypervisor that cannot keep guest-physical ranges apart: each VM has its own IOVA window, whose start the frontend adds to every address.",
  machine = { backend = { dma_offset = true } },
  vms = {
    { name = "A", gpa = 0x100000000 }, { name = "B", gpa = 0x100000000 },
  },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.different(A.dma_offset, B.dma_offset)
  local load = {}
  for i, vm in ipairs { A, B } do
    expect.status(vm:write { slba = 0x4000, blocks = 64, tag = 0x1000 * i }, "0/0x00")
    load[i] = vm:workload { depth = 16, blocks = 32, read_percent = 50, span = 0x2000, requests = 300, cpu = us(2) }
  end
  for i, vm in ipairs { A, B } do
    expect.true_(load[i]:join())
    local r = load[i]:result()
    expect.equal(r.errors + r.wrong + r.twice + r.outstanding, 0)
    local status, gpa = vm:read { slba = 0x4000, blocks = 64 }
    expect.status(status, "0/0x00")
    expect.holds(vm, gpa, 64 * 512, 0x1000 * i)
  end
  expect.violations(0)
end
