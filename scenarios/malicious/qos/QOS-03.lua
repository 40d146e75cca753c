-- SPDX-License-Identifier: GPL-2.0
local dsm = include "dsm"

scenario {
  id = "QOS-03", name = "Cheap commands with large cost", tags = { "malicious", "qos" }, attacker = "guest-user",
  about = "VM A keeps one Dataset Management of 256 ranges, one Write Zeroes of 32 MiB and 64 flushes in flight; VM B writes 4 KiB at a time.",
  machine = { ssd = { timing = { zeroes = ns(20) } }, backend = { queue_depth = 32 } },
  vms = baseline { A = { work_per_s = 400000 } },
}

-- p99 and mean
local function latency(m, B, time)
  local w = B:workload { depth = 1, blocks = 8, read_percent = 0, span = 0x10000, cpu = us(1) }
  m:sleep(time)
  w:stop()
  return w:result().p99, w:result().mean
end

-- One kind of command of VM A's after the other, @n at once, until told.
local function keep(m, off, n, send)
  for _ = 1, n do
    m:spawn(function()
      while not off.now do send():wait(s(2)) end
    end)
  end
end

local function zeroes(A, blocks)
  return A:raw { opcode = 0x08, slba = A.lba_base, nlb = blocks - 1 }
end

-- None costs nothing, and what does more takes longer.
local function cost_by_work(m, A, page)
  local function took(send)
    local before = m:now()
    expect.status(send():wait(), "0/0x00")
    return m:now() - before
  end
  return took(function() return dsm.deallocate(A, page, 1) end) < took(function() return dsm.deallocate(A, page, 256) end)
    and took(function() return zeroes(A, 8) end) < took(function() return zeroes(A, 65536) end)
    and took(function() return A:raw { opcode = 0x00 } end) > us(5)
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local page, off = dsm.page(A, 256, A.lba_base), {}
  local p99, mean = latency(m, B, ms(50))
  local by_work = cost_by_work(m, A, page)
  attack(A, function()
    keep(m, off, 1, function() return dsm.deallocate(A, page, 256) end)
    keep(m, off, 1, function() return zeroes(A, 65536) end)
    keep(m, off, 64, function() return A:raw { opcode = 0x00 } end)
    m:sleep(ms(20))
    local p99_beside, mean_beside = latency(m, B, ms(300))
    off.now = true
    m:sleep(ms(10))
    measure("b.p99_slowdown", p99_beside / p99)
    measure("cost by work, none zero time", by_work)
    if mean_beside > mean then degraded() end
  end)
end
