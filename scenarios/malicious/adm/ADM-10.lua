-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-10", name = "Configuration space", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "BARs, command register, MSI-X control, reset, SR-IOV, writes of odd sizes: all to the virtual function's own copy.",
  vms = baseline(),
}

local COMMAND, BAR0, MSIX, DEVCTL, SRIOV = 0x04, 0x10, 0x50, 0x68, 0x100

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local before, resets = {}, m:counters().resets
  for off = 0, 0xFC, 4 do before[off] = m:ssd_config(off) end
  local io = B:write { slba = 0, blocks = 256, tag = 0xB00, async = true }
  attack(A, function()
    local bar = A:cfg_read(BAR0)
    for _, v in ipairs { 0xFFFFFFFF, 0 } do A:cfg_write(BAR0, v) end
    expect.equal(A:cfg_read(BAR0) & ~0xF, 0)
    A:cfg_write(BAR0, bar)
    A:cfg_write(COMMAND, 0, 2)                          -- neither memory nor bus master
    A:cfg_write(COMMAND, 6, 2)
    for _ = 1, 10 do
      A:cfg_write(MSIX, 0xC0000000)                     -- masked as a whole
      A:cfg_write(MSIX, 0)
      A:cfg_write(MSIX, 0x80000000)
    end
    A:cfg_write(SRIOV + 0x10, 0xFFFF, 2)                -- NumVFs, if there were any
    expect.equal(A:cfg_read(SRIOV), 0, "no extended capability")
    A:cfg_write(MSIX + 3, 0xFF, 1)
    A:cfg_write(MSIX + 3, 0xFFFF, 2)                    -- across the dword's end
    A:cfg_write(MSIX + 2, 0xFFFFFFFF, 4)
    A:cfg_write(0xFFC, 0xFFFFFFFF)
    A:cfg_write(0x1000, 0xFFFFFFFF)
    A:cfg_write(DEVCTL, 0x8000, 2)                      -- function level reset
    expect.equal(A:cfg_read(COMMAND) & 7, 0, "reset")
  end)
  for off = 0, 0xFC, 4 do expect.equal(m:ssd_config(off), before[off], "the SSD's own") end
  expect.equal(m:counters().resets, resets, "resets of the SSD")
  expect.status(io:wait(), "0/0x00")
  expect.status(B:read { slba = 0, blocks = 8 }, "0/0x00")
end
