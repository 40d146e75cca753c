-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-08", name = "Controller registers", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "Enabling with queues and sizes that cannot be; resets, shutdown, subsystem reset, boot partition and PMR registers.",
  vms = baseline { A = { start = false } },
}

local admin = include "admin"

local CC, CSTS, NSSR, AQA, ASQ = 0x14, 0x1C, 0x20, 0x24, 0x28

-- What the SSD says of itself is the same before and after, and VM B goes on.
local function untouched(m, fn)
  local B, regs = m:vm("B"), { CC, CSTS, NSSR, AQA, ASQ, 0x0C }
  local before, resets = {}, m:counters().resets
  for i, reg in ipairs(regs) do before[i] = m:ssd_reg(reg) end
  local io = B:write { slba = 0, blocks = 256, tag = 0xB00, async = true }
  attack(m:vm("A"), fn)
  expect.status(io:wait(), "0/0x00")
  for i, reg in ipairs(regs) do expect.equal(m:ssd_reg(reg), before[i], "the SSD's register") end
  expect.equal(m:counters().resets, resets, "resets of the SSD")
  expect.status(B:read { slba = 0, blocks = 8 }, "0/0x00")
end

variant("a", { about = "AQA = 0, ASQ not aligned, MPS and entry sizes out of range, CSS = 7" }, function(m)
  local A = m:vm("A")
  local q = admin.open(A)
  local bad = {
    { AQA, 0 }, { ASQ, q.sq | 0x10, 8 }, { ASQ, 0x7FFFFFFFF000, 8 },
    cc = { admin.CC_EN | 15 << 7, admin.CC_EN & ~0xF0000, admin.CC_EN & ~0xF00000, admin.CC_EN | 7 << 4 },
  }
  local function fatal(what)
    expect.equal(A:reg_read(CSTS) & 3, 2, what)
    seen("csts:cfs")
  end
  untouched(m, function()
    for _, w in ipairs(bad) do
      A:reg_write(CC, 0)
      admin.enable(q)
      A:reg_write(CC, 0)
      A:reg_write(w[1], w[2], w[3] or 4)
      A:reg_write(CC, admin.CC_EN)
      fatal("CFS, and not ready")
    end
    for _, cc in ipairs(bad.cc) do
      A:reg_write(CC, 0)
      admin.enable(q)
      A:reg_write(CC, 0)
      A:reg_write(CC, cc)
      fatal("CFS, and not ready")
    end
  end)
end)

variant("b", { about = "CC.EN in a loop, shutdown, NSSR, BPRSEL, PMR" }, function(m)
  local A = m:vm("A")
  local q = admin.open(A)
  untouched(m, function()
    for _ = 1, 20 do
      A:reg_write(CC, 0)
      A:reg_write(CC, admin.CC_EN)
    end
    A:reg_write(CC, admin.CC_EN | 1 << 14)
    expect.equal(A:reg_read(CSTS) >> 2 & 3, 2, "shutdown is over")
    A:reg_write(CC, 0)
    A:reg_write(CC, admin.CC_EN)
    A:reg_write(AQA, 0)                                 -- while it is enabled: neither is taken
    A:reg_write(ASQ, 0x7FFFFFFFF000, 8)
    expect.equal(A:reg_read(AQA), 31 << 16 | 31)
    expect.equal(A:reg_read(ASQ, 8), q.sq)
    A:reg_write(NSSR, 0x4E564D65)
    A:reg_write(0x44, 0x80000001)                       -- BPRSEL
    A:reg_write(0x48, q.sq, 8)                          -- BPMBL
    for _, pmr in ipairs { 0xE00, 0xE04, 0xE08, 0xE14, 0xE18 } do A:reg_write(pmr, 0xFFFFFFFF) end
    expect.equal(A:reg_read(CSTS) & 3, 1, "ready, as before")
  end)
end)
