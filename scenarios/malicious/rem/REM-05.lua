-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "REM-05", name = "What a short transfer leaves in the buffer", tags = { "malicious", "remanence" }, attacker = "guest-kernel",
  about = "VM A looks for another's bytes where a transfer ended before its buffer did: a read that fails after three of 16 pages, and logs that are shorter than what is asked for.",
  vms = baseline(),
}

local OWN = 0xA11       -- what VM A's buffer held before

variant("a", { about = "a block that cannot be read" }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  local page = A:alloc(16)
  expect.status(A:write { slba = 0, blocks = 128, tag = 0xA00000 }, "0/0x00")
  expect.status(B:write { slba = 0, blocks = 128, tag = 0x5EC4E7 }, "0/0x00")
  expect.status(B:read { slba = 0, blocks = 128 }, "0/0x00")
  A:fill(page, 65536, OWN)
  m:fault { kind = "media", lba = A.lba_start + 24, blocks = 1 }
  attack(A, function()
    expect.status(A:raw { opcode = 0x02, slba = A.lba_base, nlb = 127, data = page }:wait(), "2/0x81")
  end)
  expect.holds(A, page, 12288, 0xA00000)
  expect.holds(A, page + 12288, 53248, OWN + 24)
end)

-- 4096 bytes of log @lid, of which there are @size, all zeros from @used on.
local function log(A, page, lid, used, size)
  expect.status(A:admin { opcode = 0x06, cdw10 = 1, prp1 = page }, "0/0x00")      -- the reply before
  A:fill(page, 4096, OWN)
  local own = A:bytes(page, 4096)
  expect.status(A:admin { opcode = 0x02, cdw10 = lid | 1023 << 16, prp1 = page }, "0/0x00")
  local reply = A:bytes(page, 4096)
  expect.true_(reply == reply:sub(1, used) .. ("\0"):rep(size - used) .. own:sub(size + 1), "zeros in log " .. lid .. ", VM A's own behind it")
end

variant("b", { about = "a reply that is shorter than its buffer" }, function(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  attack(A, function()
    log(A, page, 0x01, 0, 64)       -- errors: none
    log(A, page, 0x02, 6, 512)      -- SMART
    log(A, page, 0x03, 16, 512)     -- firmware: one slot
    log(A, page, 0x04, 0, 4096)     -- changed namespaces: none
  end)
end)
