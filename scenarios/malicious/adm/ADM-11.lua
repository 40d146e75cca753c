-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-11", name = "Replies into what is not the VM's memory", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "Identify and Get Log Page with PRPs at an unmapped page, at 0, at the VM's own registers and CMB.",
  vms = baseline(),
}

local NOWHERE = 0x7FFFFFFFF000

function run(m)
  local A = m:vm("A")
  local page, cmb = A:alloc(2), A.cmb + 0x1000
  local function identify(prp1, prp2) return A:admin { opcode = 0x06, cdw10 = 1, prp1 = prp1, prp2 = prp2 } end
  A:fill(page, 8192, 0xA11)
  attack(A, function()
    expect.status(identify(page + 0xFF8, NOWHERE), "0/0x04")
    expect.holds(A, page, 8192, 0xA11)      -- not a byte of the first page either
    expect.status(identify(NOWHERE, page), "0/0x04")
    expect.status(A:admin { opcode = 0x02, cdw10 = 0x007F0002, prp1 = 0 }, "0/0x04")
    expect.status(identify(A.bar0), "0/0x04")
    expect.status(identify(A.bar0 + 0x1000), "0/0x04")
    expect.status(identify(cmb), "0/0x04")
    expect.status(identify(page + 0xFF8, A.bar0), "0/0x04")
  end)
  expect.holds(A, page, 8192, 0xA11)
  expect.status(identify(page + 0xFF8, page + 4096), "0/0x00")
  expect.equal(A:bytes(page + 4096 - 8 + 4, 4) , "LIOV", "the serial number, across the page's end")
end
