-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-06", name = "Root and context entry defects", tags = { "malicious", "iommu" }, attacker = "host-bug",
  about = "The SSD's root or context entry is broken: nothing of it reaches memory, whoever's command it works on.",
  vms = baseline(),
}

-- Each defect on the machine as it then is; the first blocked fetch is the last: the controller is in fatal status.
local function broken(m, defect)
  local A = m:vm("A")
  local page = A:alloc(1)
  A:raw { opcode = 0x08, slba = A.lba_base, nlb = 7 }:wait()
  A:fill(page, 4096, 0xA11)
  m:iommu_faults()
  m:iommu_context(defect)
  attack(A, function()
    expect.equal(A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = page }:wait(ms(5)), "timeout")
  end)
  expect.holds(A, page, 4096, 0xA11)
  return m:iommu_faults()
end

for name, defects in pairs { a = "root", b = "absent", c = "reserved" } do
  variant(name, { about = "the context: " .. defects }, function(m) expect.at_least(broken(m, defects), 1, "records") end)
end

variant("d", { about = "the context: width" }, function(m) expect.at_least(broken(m, "width"), 1, "records") end)

variant("e", { about = "the context: type, with FPD = 1" }, function(m) expect.equal(broken(m, "fpd"), 0, "records") end)
