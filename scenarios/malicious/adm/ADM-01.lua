-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-01", name = "Format NVM from a guest", tags = { "malicious", "admin", "smoke" }, attacker = "guest-kernel",
  about = "Format of namespace 1, and of all, with user data erase.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB10C }, "0/0x00")
  local before = m:counters().admin_commands
  attack(A, function()
    for _, nsid in ipairs { 1, 0xFFFFFFFF } do
      A:admin { opcode = 0x80, nsid = nsid, cdw10 = 1 << 9 }
    end
  end)
  expect.equal(m:counters().admin_commands, before, "nothing was forwarded")
  expect.true_(m:media_holds(B.lba_start, 8, 0xB10C), "VM B's blocks are unchanged")
end
