-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CMB-07", name = "Data in the SSD's memory buffer", tags = { "malicious", "cmb" }, attacker = "guest-kernel",
  about = "The SSD's CMB takes data. VM A names it in a Read and in a Write: a hit there is not for the IOMMU to see.",
  machine = { ssd = { cmb = "2M", cmb_lists = true } },
  vms = baseline(),
}

local function rw(opcode)
  return function(m)
    local A = m:vm("A")
    A:raw { opcode = 0x08, slba = A.lba_base, nlb = 7 }:wait()
    attack(A, function() A:raw { opcode = opcode, slba = A.lba_base, nlb = 7, prp1 = m.cmb_iova + 0x1000 }:wait() end)
  end
end

variant("a", { about = "Read: the buffer is written" }, rw(0x02))
variant("b", { about = "Write: the buffer is read" }, rw(0x01))
