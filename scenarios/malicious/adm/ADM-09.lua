-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-09", name = "Admin command with SGL, fused or unused fields", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "Identify with PSDT and FUSE set, each command that has no namespace with one.",
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  A:fill(page, 4096, 0xA11)
  attack(A, function()
    for _, flags in ipairs { 0x40, 0x80, 0xC0, 0x01, 0x02, 0x03, 0x41 } do
      expect.status(A:admin { opcode = 0x06, flags = flags, cdw10 = 1, prp1 = page }, "0/0x02")
    end
    expect.status(A:admin { opcode = 0x06, cdw10 = 1, nsid = 1, prp1 = page }, "0/0x02")
    expect.status(A:admin { opcode = 0x08, nsid = 1, cdw10 = 0x12340000 }, "0/0x02")
    expect.status(A:admin { opcode = 0x02, nsid = 1, cdw10 = 0x00030002, prp1 = page }, "0/0x02")
  end)
  expect.holds(A, page, 4096, 0xA11)
  expect.status(A:admin { opcode = 0x06, cdw10 = 1, prp1 = page }, "0/0x00")
end
