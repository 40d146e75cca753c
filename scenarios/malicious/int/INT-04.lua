-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-04", name = "Compatibility-format messages", tags = { "malicious", "interrupt" }, attacker = "guest-kernel",
  about = "Dwords at 0xFEE00000 + core << 12 that would be a fixed interrupt, NMI, INIT and start-up if no entry were asked.",
  machine = { ssd = { sgls = true } },
  vms = baseline(),
}

local interrupt = include "interrupt"

local function fire(m)
  local A = m:vm("A")
  for core, data in pairs { [0] = 0x30, [1] = 0x400, [2] = 0x500, [3] = 0x608 } do
    local page = interrupt.block(A, data)
    attack(A, function() interrupt.by_sgl(A, page, 0xFEE00000 | core << 12) end)
  end
end

function run(m) fire(m) end

variant("mutant", { about = "the host, in xAPIC mode, has left CFI on", attacker = "host-bug",
                    machine = { ssd = { sgls = true }, iommu = { x2apic = false } } }, function(m)
  m:compatibility_format()
  fire(m)
end)
