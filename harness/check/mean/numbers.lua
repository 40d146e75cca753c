-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-numbers", name = "Numbers at their ends", tags = { "malicious" },
  about = "Negative and huge ones where times, addresses, counts and indices go.",
  vms = { { name = "A", vcpus = 2 }, { name = "B" } }, limit = { time = s(10), events = 2000000 },
}


local ends = { 0, -1, 1, 63, 0x7FFFFFFFFFFFFFFF, math.mininteger, 1 << 32, (1 << 47) - 1, 1 << 52, 0xFEE00000, 0xE0000000 - 1, 0xE1FFFFFC, 0x1FFFFFFFC }
local uses = {
  function(m, A, n) m:sleep(n) end,
  function(m, A, n) A:load64(n) A:store64(n, n) A:bytes(n, 100) end,
  function(m, A, n) A:read { slba = n, blocks = 8 } end,
  function(m, A, n) A:read { slba = 0, blocks = 8, into = n } end,
  function(m, A, n) A:write { slba = 0, blocks = 8, from = n } end,
  function(m, A, n) A:raw { opcode = 2, slba = n, nlb = 7, prp1 = n, prp2 = n } end,
  function(m, A, n) A:unchecked_read { slba = n, blocks = 255, into = n } end,
  function(m, A, n) A:admin { opcode = 0x06, cdw10 = n, prp1 = n, prp2 = n } end,
  function(m, A, n) A:register_memory(n, n) A:unregister_memory(n, n) end,
  function(m, A, n) A:reg_read(n, 8) A:reg_write(n, n, 8) A:cfg_read(n) A:cfg_write(n, n) end,
  function(m, A, n) m:plug(A, n, 0x200000) end,
  function(m, A, n) m:balloon(A, n, n) end,
  function(m, A, n) m:media_holds(n, n, n) end,
  function(m, A, n) A:workload { depth = 2, blocks = 8, first = n, span = n, requests = 4 } end,
  function(m, A, n) A:raw { opcode = 2, prp1 = A.memory }:wait(n) end,
}
for i = 1, 15 do
  variant("v" .. i, function(m)
    local A = m:vm("A")
    for k, n in ipairs(ends) do m:spawn(function() pcall(uses[i], m, A, n) end) end
    for k, n in ipairs(ends) do if i > 1 then pcall(uses[i], m, A, n) end end
    m:sleep(ms(100))
  end)
end
