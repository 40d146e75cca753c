-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-killed", name = "Verbs on a VM that was killed", tags = { "malicious" },
  about = "Every verb of a VM that is gone, or goes while the verb runs.",
  vms = { { name = "A", vcpus = 2, queues = 2 }, { name = "B" } }, limit = { time = s(10), events = 2000000 },
}


local verbs = {
  function(A) A:raw { opcode = 2, prp1 = A.memory } end,
  function(A) A:read { slba = 0, blocks = 8 } end,
  function(A) A:write { slba = 0, blocks = 256, tag = 1 } end,
  function(A) A:admin { opcode = 6, nsid = 1, prp1 = A.memory } end,
  function(A) A:start {} end,
  function(A) A:stop() end,
  function(A) A:queue(1) end,
  function(A) A:cfg_read(0) end,
  function(A) A:cfg_write(4, 0) end,
  function(A) A:register_memory(A.memory, 4096) end,
  function(A) A:unregister_memory(A.memory, 4096) end,
  function(A) A:preempt(1) end,
  function(A) A:run(1) end,
  function(A) A:alloc(1) end,
  function(A) A:load32(A.bar0) end,
  function(A) A:store32(A.cmb, 1) end,
  function(A) A:bytes(A.memory, 4096) end,
  function(A) A:workload { depth = 2, requests = 10 }:join() end,
  function(A) A:kill() end,
}

for i = 1, 16 do
  variant("v" .. i, function(m)
    local A, B = m:vm("A"), m:vm("B")
    if i == 16 then
      for k = 16, #verbs do pcall(verbs[k], A) end
      return
    end
    m:spawn(function() pcall(verbs[i], A) end)
    m:spawn { vm = A, vcpu = 1, function() pcall(verbs[i], A) end }
    m:sleep(ns(300 * i))
    m:destroy(A)
    B:read { slba = 0, blocks = 8 }
    m:sleep(ms(1))
    pcall(verbs[i], A)
  end)
end
