-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-12", name = "Window beyond the capacity", tags = { "malicious", "lba", "config" }, attacker = "config",
  about = "NSID 1 has 0x800000 block numbers and capacity for 0x400000. VM D's window would begin where the capacity ends.",
  machine = { ssd = { ncap = 0x400000 } },
  vms = baseline(),
}

variant("mutant", { about = "the host does not compare with NCAP, nor see its wipe fail", attacker = "host-bug" }, function(m)
  if m.policy == "siov" then               -- no window: each VM has a namespace, as large as there is room for
    attack { by = m:vm("C"), sister = true, function()
      expect.status(m:vm("C"):write { slba = 0xFFFFF, blocks = 1, tag = 0xC00 }, "0/0x00")
    end }
    return
  end
  m:plant("backend_capacity", "backend_wipe")
  local D = m:create_vm { name = "D", lbas = 0x100000 }
  expect.equal(D.lba_start, 0x400000)
  attack(D, function() expect.status(D:write { slba = 0, blocks = 1, tag = 0xD00 }, "0/0x81") end)
end)

function run(m)
  local D = m:create_vm { name = "D", lbas = 0x100000 }
  if not D then rejected("backend") end
  expect.true_(m:create_vm { name = "D", lbas = 0x1000 } == nil, "nor a smaller one")
  expect.status(m:vm("C"):write { slba = 0xFFFFF, blocks = 1, tag = 0xC00 }, "0/0x00")
end
