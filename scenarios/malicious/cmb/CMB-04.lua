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
