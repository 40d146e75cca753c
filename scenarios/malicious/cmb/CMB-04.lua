-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CMB-04", name = "Guest memory where the controller has its CMB", tags = { "malicious", "cmb", "config" }, attacker = "config",
  about = "VM D's memory is to lie at the address at which the SSD takes a PRP for its own memory buffer.",
  machine = { ssd = { cmb = "2M" } },
  vms = baseline(),
}

function run(m)
  local vm, why = m:create_vm { name = "D", gpa = m.cmb_iova & ~0x1FFFFF, memory = "4M" }
  expect.equal(vm, nil)
  expect.equal(why, "EINVAL")
  rejected("backend")
end

variant("mutant", { about = "the host does not look", attacker = "host-bug", machine = { ssd = { cmb = "2M", cmb_lists = true } } }, function(m)
  m:plant("backend_iova_allowed")
  if m.policy == "siov" then              -- nor does it mind that the CMB takes data
    m:plant("backend_siov_cmb")
    m:reset_controller()
  end
  local D = m:create_vm { name = "D", gpa = m.cmb_iova, memory = "16M" }
  local page = m.cmb_iova + 0x1000
  D:raw { opcode = 0x08, slba = D.lba_base, nlb = 7 }:wait()
  D:fill(page, 4096, 0xD00)
  attack(D, function()
    D:raw { opcode = 0x02, slba = D.lba_base, nlb = 7, prp1 = page }:wait()
  end)
  expect.holds(D, page, 4096, 0xD00)
end)
