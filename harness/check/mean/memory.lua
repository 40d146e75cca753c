-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-memory", name = "Odd memory", tags = { "malicious" },
  about = "RAM of odd sizes and places: not multiples of 2 MiB, adjacent, over the BARs, taken out and put back.",
  vms = { { name = "B" } }, limit = { time = s(10), events = 2000000 },
}


local function try(m, ram)
  local A = m:create_vm { name = "A", start = false, lbas = 64, ram = ram }
  if not A then return end
  A:start {}
  A:write { slba = 0, blocks = 8, tag = 1 }
  for i = 1, #ram do
    A:load64(ram[i].gpa)
    A:store64(ram[i].gpa + ram[i].memory - 4, 1)
    A:bytes(ram[i].gpa + ram[i].memory - 16, 64)
  end
  A:read { slba = 0, blocks = 8 }
  for off = 0, 0x220000, 0x1000 do A:load32(A.cmb + off) end
  m:destroy(A)
end
local K, M, G = 1 << 10, 1 << 20, 1 << 30
local base = 0x200000000
local shapes = {
  { { gpa = base, memory = 4 * K } },
  { { gpa = base + 4 * K, memory = 64 * M + 4 * K } },
  { { gpa = base, memory = 3 * M }, { gpa = base + 3 * M, memory = 61 * M } },
  { { gpa = base, memory = 64 * M }, { gpa = base + 32 * M, memory = 64 * M } },
  { { gpa = base, memory = 64 * M }, { gpa = base, memory = 64 * M } },
  { { gpa = base, memory = 64 * M }, { gpa = 0xE0000000, memory = 4 * K } },
  { { gpa = base, memory = 64 * M }, { gpa = 0xE0FFF000, memory = 8 * K } },
  { { gpa = 0xD0000000, memory = G } },
  { { gpa = base, memory = 64 * M }, { gpa = 0xE1000000, memory = 2 * M } },
  { { gpa = base, memory = 64 * M }, { gpa = 0xFEE00000, memory = M } },
  { { gpa = 0, memory = 64 * M } },
  { { gpa = (1 << 48) - 64 * M, memory = 64 * M } },
  { { gpa = base, memory = 64 * M }, { gpa = 0 - 4096, memory = 4096 } },
  { { gpa = base + 1, memory = 64 * M } },
  { { gpa = base, memory = 1 << 40 } },
}
for i = 1, 15 do variant("v" .. i, function(m) try(m, shapes[i]) end) end
