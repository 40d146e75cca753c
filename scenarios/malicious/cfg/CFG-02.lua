-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CFG-02", name = "Guest memory over reserved ranges", tags = { "malicious", "config" }, attacker = "config",
  about = "VM D's memory covers the interrupt range, the SSD's registers, the host's IOVAs, VM A's memory, or more than the IOMMU translates.",
  machine = { iommu = { address_bits = 40 } },
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local ranges = {
    { 0xFEE00000, "1M" }, { 0xFE000000, "32M" },
    { m.bar0, "64K" }, { m.bar0 - 0x100000, "2M" },
    { 0x10000, "1M" }, { 0xFF00000, "1M" },
    { A.memory + 0x1000, "4K" }, { A.memory - 0x1000, "8K" },
    { 1 << 40, "1M" }, { (1 << 40) - 0x1000, "8K" },
  }
  configure(function()
    for i, r in ipairs(ranges) do
      -- Under siov another VM's addresses are nobody's business.
      if m.policy ~= "siov" or (i ~= 7 and i ~= 8) then
        local vm = m:create_vm { name = "D" .. i, gpa = r[1], memory = r[2], start = false }
        expect.equal(vm, nil, "a VM with memory there")
      end
    end
  end)
  expect.true_(m:create_vm { name = "D", gpa = (1 << 40) - 0x100000, memory = "1M", start = false } ~= nil, "up to the end is legal")
  expect.violations(0)
end
