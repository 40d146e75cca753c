-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CMB-03", name = "CMB placed over memory, or past the end", tags = { "malicious", "cmb" }, attacker = "guest-kernel",
  about = "CMBMSC puts the virtual CMB over VM A's own memory, and where its end wraps to 0.",
  machine = { ssd = { cmb = "2M" } },
  vms = baseline(),
}

local CMBMSC, CMBSTS = 0x50, 0x58
local ENABLE = 3                        -- CRE and CMSE

local function place(m, base)
  local A = m:vm("A")
  local physical = m:ssd_reg(CMBMSC, 8)
  attack(A, function()
    A:reg_write(CMBMSC, base | ENABLE, 8)
    expect.equal(A:reg_read(CMBSTS), 1, "CBAI")
    seen("cmbsts:cbai")
    A:reg_write(CMBMSC + 4, 0)                          -- in halves, either order
    A:reg_write(CMBMSC, 0)
    A:reg_write(CMBMSC, base & 0xFFFFFFFF | ENABLE)
    A:reg_write(CMBMSC + 4, base >> 32)
    expect.equal(A:reg_read(CMBSTS), 1, "CBAI")
  end)
  expect.equal(m:ssd_reg(CMBMSC, 8), physical, "the SSD's own register")
  expect.equal(m:ssd_reg(CMBSTS), 0, "and its status")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA00 }, "0/0x00")
end

variant("a", { about = "over VM A's memory" }, function(m) place(m, m:vm("A").memory) end)

variant("b", { about = "2 MiB from 1 MiB below 2^64" }, function(m) place(m, 0xFFFFFFFFFFF00000) end)
