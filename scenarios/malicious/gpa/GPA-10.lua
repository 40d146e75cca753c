-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-10", name = "PRP list that chains to itself", tags = { "malicious", "gpa", "prp" }, attacker = "guest-kernel",
  about = "Reads of up to 2 MiB by a list of one or two slots and a page behind it, whose last slot leads to itself.",
  machine = { ssd = { mdts = 9 } },
  vms = baseline(),
}

-- Pages of data, byte offset in PRP1, and where in its page the list begins: entries needed are 510, 511, 512 and 512.
-- Of the last the page behind has exactly as many slots as remain, so that its last slot is data.
local SHAPES = { { 511, 0, 0xFF0 }, { 512, 0, 0xFF0 }, { 512, 512, 0xFF0 }, { 512, 512, 0xFF8 } }

function run(m)
  local A = m:vm("A")
  local data, list = A:alloc(514), A:alloc(2)
  local rest = list + 0x1000
  for block = 0, 4095, 256 do
    expect.status(A:write { slba = block, blocks = 256, tag = 0xA00 + block }, "0/0x00")
  end
  for _, shape in ipairs(SHAPES) do
    local pages, offset, at = shape[1], shape[2], shape[3]
    local behind = at == 0xFF0 and 2 or 1                -- the first data page that the second list page names
    if behind == 2 then A:store64(list + at, data + 4096) end
    A:store64(list + 0xFF8, rest)
    for i = 0, 511 do A:store64(rest + 8 * i, data + 4096 * (behind + i)) end
    if behind == 2 then A:store64(rest + 0xFF8, rest) end
    A:fill(data, 514 * 4096, 0)
    attack(A, function()
      expect.status(A:raw { opcode = 0x02, slba = A.lba_base, nlb = pages * 8 - 1, prp1 = data + offset,
                            prp2 = list + at }:wait(), "0/0x00")
    end)
    expect.holds(A, data + offset, pages * 4096, 0xA00)
  end
  expect.zero(A, data + 513 * 4096, 4096)
end
