-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-01", name = "Raw SQE with victim's LBA", tags = { "malicious", "lba", "smoke" }, attacker = "guest-kernel",
  about = "VM A skips its frontend and reads VM B's block 0 by its physical address.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0x5EC4E7 }, "0/0x00")
  local page = A:alloc(1)
  attack(A, function()
    A:raw { opcode = 0x02, slba = B.lba_start, nlb = 7, prp1 = page }:wait()
  end)
end
