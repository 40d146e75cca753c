-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-03", name = "Table page freed before its caches are flushed", tags = { "malicious", "iommu", "lifetime" },
  attacker = "host-bug",
  about = "VM A unregisters all of a 2 MiB range; the table of its leaves is freed, becomes VM A's memory and holds what VM A writes.",
  vms = baseline(),
}

local RANGE, SIZE = 0x200200000, 0x200000

local function walk_my_page(m)
  local A, B = m:vm("A"), m:vm("B")
  local victim = B:alloc(1)
  B:fill(victim, 4096, 0xB00)
  A:raw { opcode = 0x08, slba = A.lba_base, nlb = 7 }:wait()
  local function read(at) return A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = at }:wait() end
  expect.status(A:unregister_memory(RANGE, 4096), "0/0x00")      -- leaves of 4 KiB from here on
  expect.status(read(RANGE + 0x1000), "0/0x00")                  -- and the unit knows their table
  local frame = m:iommu_table(RANGE)
  expect.status(A:unregister_memory(RANGE + 4096, SIZE - 4096), "0/0x00")
  local table = A.memory + A.memory_len
  m:plug(A, table, 4096, frame)
  A:store64(table + 8 * 5, m:frame(B, victim) | 3)               -- a leaf for RANGE + 0x5000: read, write
  attack(A, function() read(RANGE + 0x5000) end)
  return B:holds(victim, 4096, 0xB00)
end

function run(m)
  expect.true_(walk_my_page(m), "VM B's page is unchanged")
end

variant("mutant", { about = "the invalidation has IH = 1: of leaves only" }, function(m)
  m:plant("iommu_leaves")
  expect.equal(walk_my_page(m), m.policy == "mediated", "VM B's page is unchanged")
end)
