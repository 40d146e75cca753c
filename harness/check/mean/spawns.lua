-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-spawns", name = "Storms of actors", tags = { "malicious" },
  about = "More actors than there may be; actors that make actors; actors in the same place.",
  vms = { { name = "A", vcpus = 8, queues = 4, halt_when_idle = true }, { name = "B" } }, limit = { time = s(10), events = 3000000 },
}


variant("flat", function(m)
  for i = 1, 1000 do m:spawn(function() m:sleep(ns(i)) end) end
end)
variant("deep", function(m)
  local function again() m:spawn(again) end
  again()
  m:sleep(ms(1))
end)
variant("same", function(m)
  local A = m:vm("A")
  local all = {}
  for i = 1, 60 do
    all[i] = m:spawn { vm = A, vcpu = i % 8, function()
      for k = 1, 4 do A:read { slba = i * 8, blocks = 8, queue = 1 + i % 4 } end
      for k = 1, 4 do A:load32(A.bar0 + 0x1C) end
    end }
  end
  for i = 1, 60 do all[i]:join() end
end)
variant("drivers", function(m)
  local A = m:vm("A")
  for i = 1, 8 do
    m:spawn { vm = A, vcpu = i - 1, function()
      for k = 1, 5 do
        if i % 2 == 0 then A:stop() else A:start {} end
        A:read { slba = i * 8, blocks = 8, async = true }
        A:raw { opcode = 2, prp1 = A.memory }
        if A.alive then pcall(A.queue, A, 1) end
      end
    end }
  end
  m:sleep(ms(500))
end)
variant("stock", function(m)
  local A = m:vm("A")
  A:stop()
  for i = 1, 8 do
    m:spawn { vm = A, vcpu = i - 1, function()
      for k = 1, 5 do
        if i % 2 == 0 then A:stop() else A:start { driver = "stock" } end
        A:read { slba = i * 8, blocks = 8, timeout = us(200) }
      end
    end }
  end
  m:sleep(ms(500))
end)
variant("registers", function(m)
  local A = m:vm("A")
  for k = 1, 4 do A:unregister_memory(A.memory + 0x100000 * k, 0x4000) end
  for i = 1, 8 do
    m:spawn { vm = A, vcpu = i - 1, function()
      A:register_memory(A.memory + 0x100000 * (1 + i % 4) + 0x2000 * (i // 5), 0x2000)
      for k = 1, 12 do
        A:register_memory(A.memory + 0x100000 * i + 0x1000 * k, 4096)
        A:unregister_memory(A.memory + 0x100000 * i, 4096)
      end
    end }
  end
  m:sleep(ms(500))
end)
variant("resets", function(m)
  local A = m:vm("A")
  for i = 1, 6 do
    m:spawn { vm = A, vcpu = i - 1, function()
      for k = 1, 3 do
        m:reset_controller()
        pcall(A.read, A, { slba = 0, blocks = 8, timeout = ms(1) })
      end
    end }
  end
  m:sleep(ms(1))
  m:destroy(A)
  m:sleep(ms(500))
end)
variant("ends", function(m)
  local A = m:vm("A")
  local load = A:workload { depth = 8, read_percent = 50, may_fail = true }
  m:sleep(us(300))
  for i = 1, 6 do
    m:spawn(function() m:sleep(us(i)) pcall(m.release_queue, m, A, i) end)
    m:spawn(function() m:sleep(us(i)) pcall(m.balloon, m, A, A.memory + 4096 * i, 4096) end)
    m:spawn { vm = A, vcpu = i, function() pcall(A.read, A, { slba = 0, blocks = 8, timeout = ms(1) }) end }
    m:spawn(function() m:sleep(us(5 * i)) pcall(m.destroy, m, A) end)
    m:spawn(function() m:sleep(us(4 * i)) m:reset_controller() end)
  end
  m:sleep(ms(500))
end)
variant("idle", function(m)
  local A = m:vm("A")
  local load = A:workload { depth = 1, cpu = us(3) }
  for i = 1, 2000 do A:load32(A.bar0 + 0x1C) end
  load:stop()
end)
