-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CMB-05", name = "PRPs into the CMB", tags = { "malicious", "cmb" }, attacker = "guest-kernel",
  about = "8 KiB whose first page is in the SSD's CMB and whose second is memory; a list page in the CMB, which takes none.",
  machine = { ssd = { cmb = "2M" } },
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local page = A:alloc(2)
  A:fill(page, 8192, 0xA11)
  A:raw { opcode = 0x08, slba = A.lba_base, nlb = 31 }:wait()
  local function read(nlb, prp1, prp2)
    return A:raw { opcode = 0x02, slba = A.lba_base, nlb = nlb, prp1 = prp1, prp2 = prp2 }:wait()
  end
  attack(A, function()
    for _, off in ipairs { 0x1000, 0x1FF000 } do
      expect.status(read(15, m.cmb_iova + off, page), "0/0x12", "0/0x04")
      expect.status(read(15, page, m.cmb_iova + off), "0/0x12", "0/0x04")
      expect.status(read(23, page, m.cmb_iova + off), "0/0x12", "0/0x04")
    end
    expect.status(read(0, m.cmb_iova + 0x1000), "0/0x12", "0/0x04")
  end)
  expect.holds(A, page, 8192, 0xA11)
end
