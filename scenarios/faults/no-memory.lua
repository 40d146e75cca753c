-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "no-memory", name = "The n-th allocation fails", tags = { "benign", "fault", "lifetime" },
  about = "A VM is made again and again, and each time another allocation of the host's fails: it is refused whole, nothing of it stays, and with memory the next has the same queue and blocks.",
  vms = { { name = "B", lbas = 0x1000, memory = "64M" } },
}

function run(m)
  local B = m:vm("B")
  local refused, made, queue, first = 0, false, nil, nil
  for n = 0, 60 do
    if made then break end
    m:fault { kind = "no_memory", after = n }
    local vm, why = m:create_vm { name = "V" .. n, queues = 2, lbas = 0x1000, memory = "64M", start = false }
    if vm then
      -- Past the last of its allocations: none failed.
      made, first = true, vm.lba_start
      m:fault { kind = "no_memory", count = 0 }
      expect.equal(first, B.lba_start + 0x1000, "no block was lost to those before")
      expect.status(vm:start {}, "0/0x00")
      expect.status(vm:write { slba = 0, blocks = 8, tag = 0xA0 }, "0/0x00")
      queue = vm:queue(1).qid
    else
      refused = refused + 1
      expect.equal(why, "ENOMEM", "allocation " .. n)
    end
  end
  expect.true_(made, "there are fewer than 60 allocations")
  expect.at_least(refused, 3)
  expect.equal(queue, B:queue(1).qid + 1, "no queue was lost either")
  expect.equal(m:counters().quarantined, 0)
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB0 }, "0/0x00")
  expect.violations(0)
end
