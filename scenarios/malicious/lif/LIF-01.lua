-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LIF-01", name = "VM crash with reads in flight", tags = { "malicious", "lifetime", "smoke" }, attacker = "host-bug",
  about = "VM A submits 64 reads of 128 KiB and is killed at once; whatever the SSD still writes must not land in freed memory.",
  machine = { ssd = { timing = { admin = us(200) } } },   -- deletion takes longer than a transfer
  vms = baseline(),
}

local function crash(m)
  local A = m:vm("A")
  local slba = A.lba_base
  for i = 0, 63 do
    A:raw { opcode = 0x02, slba = slba + 256 * i, nlb = 255, data = A:alloc(32) }
  end
  m:sleep(us(100))                          -- the first data is being moved
  attack(A, function()
    A:kill()
    m:sleep(ms(20))
  end)
end

function run(m) crash(m) end

variant("mutant", { about = "memory is freed when the VM dies, pinned or not", vms = baseline { A = { start = false } } }, function(m)
  m:plant("vm_mem_pin")
  m:vm("A"):start()
  crash(m)
end)
