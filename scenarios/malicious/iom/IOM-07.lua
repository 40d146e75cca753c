-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-07", name = "Permissions, and leaves that are too large", tags = { "malicious", "iommu" }, attacker = "guest-kernel",
  about = "Pages that devices may only read, or only write; a range of 1 MiB, behind whose frames lie VM B's.",
  vms = baseline { A = { ram = {
    { gpa = 0x200000000, memory = "1G" },
    { gpa = 0x250000000, memory = "4K", dma = "r" },
    { gpa = 0x260000000, memory = "4K", dma = "w" },
    { gpa = 0x280000000, memory = "1M" },
  } } },
}

local READ_ONLY, WRITE_ONLY, TAIL, MIB = 0x250000000, 0x260000000, 0x280000000, 1 << 20

local function command(A, opcode, at) return A:raw { opcode = opcode, slba = A.lba_base, nlb = 7, prp1 = at }:wait() end

variant("a", { about = "a page for reading is where a Read is to go" }, function(m)
  local A = m:vm("A")
  command(A, 0x08, 0)
  A:fill(READ_ONLY, 4096, 0xA00)
  expect.status(command(A, 0x01, READ_ONLY), "0/0x00")
  attack(A, function() command(A, 0x02, READ_ONLY) end)
  expect.holds(A, READ_ONLY, 4096, 0xA00)
end)

variant("b", { about = "a page for writing is where a Write is to come from" }, function(m)
  local A = m:vm("A")
  command(A, 0x08, 0)
  expect.status(command(A, 0x02, WRITE_ONLY), "0/0x00")
  attack(A, function() expect.status(command(A, 0x01, WRITE_ONLY), "0/0x04") end)
end)

-- Past VM A's 1 MiB, registered anew, where the other half of a 2 MiB leaf would lead to VM B. Did VM B's page stay as it was?
local function past_the_end(m, large)
  local A, B = m:vm("A"), m:vm("B")
  local page = B.memory + B.memory_len
  m:plug(B, page, MIB, m:frame(A, TAIL) + MIB)
  B:fill(page, 4096, 0xB00)
  command(A, 0x08, 0)
  attack(A, function()
    A:unregister_memory(TAIL, MIB)
    A:register_memory(TAIL, MIB)
    if large then m:iommu_entry { iova = TAIL, level = 2, hpa = m:frame(A, TAIL) } end
    command(A, 0x02, TAIL + MIB)
  end)
  return B:holds(page, 4096, 0xB00)
end

variant("c", { about = "leaves of 4 KiB end where the memory does", attacker = "host-bug" }, function(m)
  expect.true_(past_the_end(m, false), "VM B's page is unchanged")
end)

variant("mutant", { about = "one leaf of 2 MiB", attacker = "host-bug" }, function(m)
  expect.equal(past_the_end(m, true), m.policy ~= "paper" and m.policy ~= "siov", "VM B's page is unchanged")
end)
