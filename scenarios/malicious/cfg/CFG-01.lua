-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CFG-01", name = "Overlapping or escaping LBA windows", tags = { "malicious", "config" }, attacker = "config",
  about = "An operator's table gives VM D blocks that are VM A's or the host's, none, or some past the end of the medium or of all numbers.",
  vms = baseline(),
}

local windows = {
  { 0x2FFFFF, 1 },                          -- VM A's last block
  { 0x200000, 0x100000 },                   -- all of VM A's
  { 0x0FFFFF, 1 },                          -- the host's last one
  { 0x400000, 0 },
  { 0x400000, 0x400001 },                   -- one past NSZE
  { 0xFFFFFFFFFFFF0000, 0x10000 },          -- ends at 2^64
  { 0xFFFFFFFFFFFF0000, 0x20000 },          -- and beyond it
}

function run(m)
  configure(function()
    for i, w in ipairs(windows) do
      local vm = m:create_vm { name = "D" .. i, lba_start = w[1], lbas = w[2] }
      expect.equal(vm, nil, "a VM with such blocks")
    end
  end)
  local D = m:create_vm { name = "D", lba_start = 0x400000, lbas = 0x400000 }
  expect.equal(D.lba_start, 0x400000, "what is free and legal is given, and nothing of it was kept by the refused ones")
  expect.violations(0)
end
