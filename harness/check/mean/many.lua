-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-many", name = "Many VMs", tags = { "malicious" },
  about = "As many as there may be, one after the other and at once; with 8 vCPUs; more than cores, queues, blocks.",
  vms = { { name = "B", lbas = 64, memory = "64M", depth = 16 } }, machine = { cores = 64 }, limit = { time = s(20), events = 6000000 },
}


variant("turns", function(m)
  for i = 1, 70 do
    local A = m:create_vm { name = "A" .. i, lbas = 64, memory = "64M", vcpus = 8, start = false, queues = 1 + i % 15 }
    if A then A:start { depth = 16 } A:read { slba = 0, blocks = 8 } m:destroy(A) end
  end
end)
variant("crowd", function(m)
  local all = {}
  for i = 1, 70 do all[i] = m:create_vm { name = "A" .. i, lbas = 64, memory = "64M", start = false } end
  for i = 1, 70 do if all[i] then all[i]:start { depth = 16 } end end
  for i = 1, 70 do if all[i] then m:spawn(function() m:destroy(all[i]) end) end end
  m:sleep(s(1))
end)
variant("mixed", function(m)
  for i = 1, 20 do
    m:spawn(function()
      m:sleep(us(50 * i))
      local A = m:create_vm { name = "A" .. i, lbas = 64, memory = "64M", queues = 1 + i % 3, vcpus = 1 + i % 4, start = false }
      if not A then return end
      pcall(A.start, A, { depth = 16 })
      pcall(A.read, A, { slba = 0, blocks = 8, timeout = ms(1) })
      m:sleep(us(10 * i))
      m:destroy(A)
    end)
    m:spawn(function() m:sleep(us(70 * i)) m:reset_controller() end)
  end
  m:sleep(s(1))
end)
variant("greedy", function(m)
  pcall(m.create_vm, m, { name = "A", queues = 16 })
  pcall(m.create_vm, m, { name = "A", queues = 0 })
  pcall(m.create_vm, m, { name = "A", queues = 0 - 1 })
  pcall(m.create_vm, m, { name = "A", lbas = 0 })
  pcall(m.create_vm, m, { name = "A", lbas = 0 - 1 })
  pcall(m.create_vm, m, { name = "A", vectors = 0 - 1 })
  pcall(m.create_vm, m, { name = "A", vectors = 100 })
  pcall(m.create_vm, m, { name = "A", vectors = 1, queues = 15, lbas = 64 })
  pcall(m.create_vm, m, { name = "A", register_all = true, lbas = 64 })
end)
variant("plants", function(m)
  m:plant("iommu_unmap", "iommu_sync", "vm_revoke", "irq_unpost", "irq_mask", "vm_mem_pin")
  for i = 1, 10 do
    local A = m:create_vm { name = "A" .. i, lbas = 64, memory = "64M", gpa = 0x200000000, depth = 16 }
    if A then A:workload { depth = 4, span = 64, read_percent = 0, may_fail = true } m:sleep(us(300)) m:destroy(A) end
  end
  m:reset_controller()
end)
