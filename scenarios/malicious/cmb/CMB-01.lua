-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CMB-01", name = "CMB access past its size", tags = { "malicious", "cmb" }, attacker = "guest-kernel",
  about = "Accesses that straddle the end of the 2 MiB CMB BAR, and one wholly past it.",
  vms = baseline(),
}

variant("a", { about = "4-byte write at 0x1FFFFF" }, function(m)
  local A = m:vm("A")
  expect.equal(A.cmb_size, 0x200000)
  attack(A, function() A:store32(A.cmb + 0x1FFFFF, 0xDEADBEEF) end)
end)

variant("b", { about = "8-byte read at 0x1FFFFC, 4-byte read at 0x200000" }, function(m)
  local A = m:vm("A")
  attack(A, function()
    expect.equal(A:load64(A.cmb + 0x1FFFFC) >> 32, 0xFFFFFFFF, "the part past the BAR is all ones")
    expect.equal(A:load32(A.cmb + 0x200000), 0xFFFFFFFF)
  end)
end)
