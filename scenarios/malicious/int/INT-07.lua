-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-07", name = "Tables that lead into the interrupt range", tags = { "malicious", "interrupt", "iommu" }, attacker = "host-bug",
  about = "VM A's page at 0x200100000 is to lie at 0xFEE00000, and the 2 MiB behind it around that.",
  vms = baseline(),
}

local PAGE = 0x200100000

local function write_there(A, at)
  return A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0, prp1 = at }:wait()
end

-- A host that believes its memory to be there, and VM A, which registers it.
function run(m)
  local A = m:vm("A")
  expect.status(A:unregister_memory(PAGE, 4096), "0/0x00")
  m:balloon(A, PAGE, 4096)
  m:plug(A, PAGE, 4096, 0xFEE00000)
  attack(A, function()
    expect.different(A:register_memory(PAGE, 4096), "0/0x00", "what registering it says")
    write_there(A, PAGE)
  end)
end

variant("mutant", { about = "such leaves are there, a small and a large one" }, function(m)
  local A = m:vm("A")
  m:iommu_entry { iova = PAGE, hpa = 0xFEE00000 }
  m:iommu_entry { iova = 0x200200000, hpa = 0xFEE00000, level = 2 }
  attack(A, function()
    write_there(A, PAGE)
    write_there(A, PAGE + 4)
    write_there(A, 0x200200000)
  end)
end)
