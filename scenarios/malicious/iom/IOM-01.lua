-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-01", name = "DMA after unmap", tags = { "malicious", "iommu", "lifetime" }, attacker = "host-bug",
  about = "VM A gives a page back, the host hands it to VM B, VM A goes on naming it in commands.",
  vms = baseline(),
}

local PAGE = 0x200050000

local function release_and_use(m)
  local A, B = m:vm("A"), m:vm("B")
  local slba = A.lba_base
  local function read() return A:raw { opcode = 0x02, slba = slba, nlb = 7, prp1 = PAGE }:wait() end
  A:raw { opcode = 0x08, slba = slba, nlb = 7 }:wait()
  expect.status(read(), "0/0x00")           -- the translation is cached now
  expect.status(A:unregister_memory(PAGE, 4096), "0/0x00")
  m:balloon(A, PAGE, 4096)
  local page = B.memory + B.memory_len
  m:plug(B, page, 4096)
  B:fill(page, 4096, 0xB00)
  attack(A, read)
  return B:holds(page, 4096, 0xB00)
end

function run(m)
  expect.true_(release_and_use(m), "VM B's new page is unchanged")
end

variant("mutant", { about = "the host leaves the invalidation out" }, function(m)
  m:plant("iommu_sync")
  expect.equal(release_and_use(m), m.policy == "mediated", "VM B's new page is unchanged")
end)
