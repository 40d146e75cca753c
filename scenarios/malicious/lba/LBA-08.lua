-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-08", name = "Copy reads the victim's blocks", tags = { "malicious", "lba", "copy" }, attacker = "guest-kernel",
  about = "Copy has a destination in the command and source ranges in its payload: each names VM B's blocks in turn.",
  machine = { ssd = { oncs = 0x10D } },     -- Compare, Dataset Management, Write Zeroes, and Copy
  vms = baseline(),
}

-- Where VM B's block 0 is, counted as VM A's driver counts blocks.
local function victim(A, B) return B.lba_start - A.lba_start + A.lba_base end

local function copy(A, from, to, cdw12)
  local payload = A:alloc(2)
  for i = 0, cdw12 & 0xFF do
    A:store64(payload + 32 * i + 8, from)
    A:store16(payload + 32 * i + 16, cdw12 & 0xFF == 0 and 0x7F or 0)   -- 128 blocks, or one in each range
  end
  return A:raw { opcode = 0x19, slba = to, cdw12 = cdw12, prp1 = payload, prp2 = payload + 4096 }:wait()
end

local function secret(vm, slba, tag) expect.status(vm:write { slba = slba, blocks = 128, tag = tag }, "0/0x00") end

variant("a", { about = "source range in VM B's window" }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  secret(B, 0, 0xB00)
  attack(A, function() copy(A, victim(A, B), A.lba_base, 0) end)
  local status, gpa = A:read { slba = 0, blocks = 128 }
  expect.equal(A:holds(gpa, 65536, 0xB00), m.policy == "paper", "VM A reads VM B's blocks")
end)

variant("b", { about = "destination in VM B's window" }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  secret(A, 0, 0xA00)
  secret(B, 0, 0xB00)
  attack(A, function() copy(A, A.lba_base, victim(A, B), 0) end)
  expect.equal(m:media_holds(B.lba_start, 128, 0xB00), m.policy ~= "paper", "VM B's blocks are still there")
end)

-- Inside VM A's own window, so that nothing else stands against it.
local function not_copied(m, cdw12)
  local A = m:vm("A")
  secret(A, 0, 0xA00)
  attack(A, function() copy(A, A.lba_base, A.lba_base + 0x1000, cdw12) end)
  expect.true_(m:media_holds(A.lba_start + 0x1000, 1, 0), "nothing was copied")
end

variant("c", { about = "256 ranges, more than MSRC" }, function(m)
  not_copied(m, 0xFF)
end)

variant("d", { about = "descriptor format 1" }, function(m)
  not_copied(m, 1 << 8)
end)
