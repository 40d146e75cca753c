-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-12", name = "PRP aimed at a device's BAR", tags = { "malicious", "gpa", "mmio" }, attacker = "guest-kernel",
  about = "Reads into the SSD's own registers, and into another device's. DMA must not ring, disable or redirect anything.",
  vms = baseline(),
}

variant("a", { about = "own doorbells, CC, MSI-X table" }, function(m)
  local A = m:vm("A")
  expect.status(A:write { slba = 0, blocks = 1, tag = 0 }, "0/0x00")
  local before = m:counters()
  for _, reg in ipairs { 0x1000, 0x14, m.msix_table } do
    attack(A, function()
      -- With a PASID the address is one of VM A's own space: the IOMMU drops the write, which is posted.
      expect.status(A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0, prp1 = m.bar0 + reg }:wait(), m.policy == "siov" and "0/0x00" or "0/0x04")
    end)
  end
  local after = m:counters()
  expect.equal(after.resets, before.resets, "CC.EN was not cleared")
  expect.equal(after.doorbells_bad, before.doorbells_bad, "no doorbell was rung")
  expect.status(A:read { slba = 0, blocks = 1 }, "0/0x00")
end)

variant("b", { about = "the BAR of a device that is VM B's" }, function(m)
  local A = m:vm("A")
  local nic = m:add_function { rid = 0x0200, vm = m:vm("B") }
  expect.status(A:write { slba = 0, blocks = 1, tag = 0xA00 }, "0/0x00")
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0, prp1 = nic.bar0 }:wait()
  end)
end)
