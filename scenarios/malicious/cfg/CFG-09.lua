-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CFG-09", name = "Tables of the IOMMU that are none", tags = { "malicious", "config", "iommu" }, attacker = "config",
  about = "Entries over VM A's memory that lead back to their own table, outside memory, to half a page of VM B's; and a fifth level.",
  vms = baseline(),
}

local READ, WRITE, MIB2, GIB = 0x02, 0x01, 0x200000, 1 << 30

local function command(A, opcode, at) return A:raw { opcode = opcode, slba = A.lba_base, nlb = 7, prp1 = at } end

-- The SSD reads nothing by that address, and what it writes arrives nowhere.
local function blocked(m, A, at)
  m:iommu_faults()
  attack(A, function()
    expect.status(command(A, WRITE, at):wait(), "0/0x04")
    command(A, READ, at):wait()
  end)
  expect.at_least(m:iommu_faults(), 1, "records")
  expect.true_(m:media_holds(A.lba_start, 8, 0xA00), "VM A's blocks are as they were")
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local victim = B.memory + 0x5000
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA00 }, "0/0x00")
  B:fill(victim, 4096, 0xB00)

  -- Level 3, an entry that is its own table's: found again at level 2, and left at level 1 by one that is absent.
  local below, own = m:iommu_table(A.memory, 2), m:iommu_table(A.memory, 3)
  m:iommu_entry { iova = A.memory, level = 3, leaf = false, hpa = own }
  blocked(m, A, A.memory + (A.memory // GIB) * MIB2 + 0x1000)
  m:iommu_entry { iova = A.memory, level = 3, leaf = false, hpa = below }

  -- A table where the SSD's registers are, and one where there is nothing.
  for i, table in ipairs { m.bar0, 0x3FFFFFFFF000 } do
    local at = A.memory + (64 + i) * MIB2
    m:iommu_entry { iova = at, level = 2, leaf = false, hpa = table }
    blocked(m, A, at)
  end

  -- A leaf of 2 MiB that begins in the middle of VM B's.
  expect.different(m:frame(B, victim) % MIB2, 0)
  m:iommu_entry { iova = A.memory + 128 * MIB2, level = 2, hpa = m:frame(B, victim) }
  blocked(m, A, A.memory + 128 * MIB2)
  expect.holds(B, victim, 4096, 0xB00)
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
  expect.status(B:read { slba = 0, blocks = 8 }, "0/0x00")

  -- Five levels, which this unit has not: it is the end of all DMA.
  m:iommu_context("width")
  attack(A, function()
    expect.equal(command(A, READ, A.memory):wait(ms(5)), "timeout")
  end)
  expect.at_least(m:iommu_faults(), 1, "records")
end
