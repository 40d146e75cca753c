-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "late-dma", name = "DMA that is late, and passed by others'", tags = { "benign", "fault" },
  about = "One step of a command in eight is late by 30 us: commands overtake each other, no completion comes before its data, nothing is mixed up.",
  vms = { { name = "A", queues = 2, lbas = 0x2000 }, { name = "B", lbas = 0x2000 } },
}

function run(m)
  local loads = {}
  m:fault { kind = "dma_delay", chance = { 1, 8 }, time = us(30) }
  for i, name in ipairs { "A", "B" } do
    loads[i] = m:vm(name):workload { depth = 8, blocks = 8, read_percent = 50, span = 0x400, requests = 150, cpu = us(1) }
  end
  for _, load in ipairs(loads) do
    expect.true_(load:join(), "it ends")
    local r = load:result()
    expect.equal(r.completed, 150)
    expect.equal(r.errors + r.wrong + r.twice, 0, "each read finds what was written last")
  end
  expect.at_least(m:fault_hits("dma_delay"), 50, "steps were late")
  expect.violations(0)
end
