-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "prp-shapes", name = "PRP lists of every shape", tags = { "benign" },
  about = "Offsets in PRP1, PRP2 as a page, lists that begin late in their page, pages in any order.",
  vms = { { name = "A" } },
}

-- Read @blocks into pages[1] + offset, pages[2] ...; the list begins at @list.
local function read(A, blocks, pages, offset, list)
  local prp2 = pages[2] or 0
  if #pages > 2 then
    for i = 2, #pages do A:store64(list + 8 * (i - 2), pages[i]) end
    prp2 = list
  end
  return A:raw { opcode = 0x02, slba = A.lba_base, nlb = blocks - 1, prp1 = pages[1] + offset, prp2 = prp2 }:wait()
end

-- The data as the pages hold it, sector by sector.
local function check(A, blocks, pages, offset, tag)
  for i = 0, blocks - 1 do
    local at = offset + 512 * i
    expect.holds(A, pages[1 + at // 4096] + at % 4096, 512, tag + i)
  end
end

function run(m)
  local A = m:vm("A")
  local list = A:alloc(1)
  expect.status(A:write { slba = 0, blocks = 64, tag = 0xF00 }, "0/0x00")
  local function try(blocks, offset, list_offset)
    local pages = {}
    for i = 1, (offset + blocks * 512 + 4095) // 4096 do pages[i] = A:alloc(1) end
    for i = 1, #pages // 2 do                       -- later pages first: contiguity is not assumed
      pages[i], pages[#pages + 1 - i] = pages[#pages + 1 - i], pages[i]
    end
    expect.status(read(A, blocks, pages, offset, list + list_offset), "0/0x00")
    check(A, blocks, pages, offset, 0xF00)
  end
  for _, blocks in ipairs { 1, 7, 8, 9, 16, 17, 64 } do
    for _, offset in ipairs { 0, 512, 3584 } do
      try(blocks, offset, 0)
    end
  end
  try(64, 512, 4096 - 8 * 8)                        -- the list ends with its page
  expect.violations(0)
end
