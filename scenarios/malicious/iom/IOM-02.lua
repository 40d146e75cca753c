-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-02", name = "Deferred invalidation", tags = { "malicious", "iommu", "lifetime" }, attacker = "host-bug",
  about = "VM A writes to its disk what lies in a page it gave back: once 1 us after the unmapping, then as long as that works.",
  vms = baseline(),
}

local release = include "release"

-- For how long, and how much of VM B's memory, can be had.
local function steal(m)
  local A, B = m:vm("A"), m:vm("B")
  release.hand_over(m, A, B)
  local began, bytes = m:now(), 0
  attack(A, function()
    m:sleep(us(1))
    while release.command(A, 0x01) == "0/0x00" and m:now() - began < ms(50) do
      bytes = bytes + 4096
      m:sleep(us(100))
    end
  end)
  measure("exposed_bytes", bytes)
  measure("exposed_us", bytes > 0 and (m:now() - began) // us(1) or 0)
  return bytes
end

function run(m)
  expect.equal(steal(m), 0, "bytes of VM B's")
end

variant("mutant", { about = "the host flushes every 10 ms, or at 256 unmappings" }, function(m)
  m:plant("iommu_lazy")
  local bytes = steal(m)
  expect.true_(m.policy == "mediated" or bytes > 0, "bytes of VM B's")
end)
