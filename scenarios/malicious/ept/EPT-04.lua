-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EPT-04", name = "Large leaf over the SSD's registers", tags = { "malicious", "ept", "doorbell" }, attacker = "host-bug",
  about = "VM A has its doorbell mapped and stores to what lies around it: were the leaf one of 2 MiB, it would be CC and all doorbells.",
  vms = baseline(),
}

local function around(m)
  local A, B = m:vm("A"), m:vm("B")
  -- Under mediated the one page that holds doorbells is the device's, and trapped.
  local doorbell = m.policy == "mediated" and A.bar0 + 0x1000 or A:queue(1).sq_doorbell
  local first = doorbell & ~0x1FFFFF
  m:zap(A)
  A:load32(doorbell)                            -- first touch: it is mapped
  attack(A, function()
    A:store32(first + 0x20, 0x4E564D65)         -- NSSR
    A:store32(first + 0x14, 0)                  -- CC
    m:sleep(ms(1))
  end)
  return m:ssd_reg(0x1C, 4) & 1 == 1
end

function run(m)
  expect.true_(around(m), "the SSD is still enabled")
end

variant("mutant", { about = "the host maps 2 MiB where it is asked for a page of registers" }, function(m)
  m:plant("host_mmio_leaf")
  expect.equal(around(m), m.policy == "mediated", "the SSD is still enabled")
end)
