-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-13", name = "A neighbour's namespace", tags = { "malicious", "lba", "namespace" }, attacker = "guest-kernel",
  about = "Each VM has a namespace. VM A names VM B's, which is active, and all at once.",
  policies = { "siov" }, vms = baseline(),
}

local function ready(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB00 }, "0/0x00")
  expect.different(A.nsid, B.nsid)
  local page = A:alloc(1)
  A:fill(page, 4096, 0xA00)
  return A, B, page
end

local function unchanged(m, B)
  expect.true_(m:media_holds(B.lba_start, 8, 0xB00), "VM B's blocks are unchanged")
end

variant("a", { about = "Read" }, function(m)
  local A, B, page = ready(m)
  attack(A, function() A:raw { opcode = 0x02, nsid = B.nsid, slba = 0, nlb = 7, prp1 = page }:wait() end)
  expect.holds(A, page, 4096, 0xA00)
end)

variant("b", { about = "Write, Write Zeroes and Dataset Management" }, function(m)
  local A, B, page = ready(m)
  attack(A, function()
    A:raw { opcode = 0x01, nsid = B.nsid, slba = 0, nlb = 7, prp1 = page }:wait()
    A:raw { opcode = 0x08, nsid = B.nsid, slba = 0, nlb = 7 }:wait()
    A:store64(page, 8 << 32)                            -- 8 blocks from 0 on
    A:store64(page + 8, 0)
    A:raw { opcode = 0x09, nsid = B.nsid, prp1 = page, cdw10 = 0, cdw11 = 4 }:wait()
  end)
  unchanged(m, B)
end)

variant("c", { about = "Flush of all namespaces", policies = { "nrd", "siov" } }, function(m)
  local A = m:vm("A")
  attack(A, function() A:raw { opcode = 0x00, nsid = 0xFFFFFFFF }:wait() end)
end)

variant("d", { about = "Dataset Management in all namespaces", policies = { "paper", "mediated", "nrd", "siov" } }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  local page = A:alloc(1)
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB00 }, "0/0x00")
  A:store64(page, 8 << 32)
  A:store64(page + 8, A.lba_base)
  attack(A, function() A:raw { opcode = 0x09, nsid = 0xFFFFFFFF, prp1 = page, cdw10 = 0, cdw11 = 4 }:wait() end)
  unchanged(m, B)
end)
