-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-02", name = "Raw write over victim's metadata", tags = { "malicious", "lba" }, attacker = "guest-kernel",
  about = "As LBA-01, but a write: one crafted sector over VM B's block 0.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(B:write { slba = 0, blocks = 1, tag = 0xB10C }, "0/0x00")
  local page = A:alloc(1)
  A:fill(page, 512, 0xBAD)
  attack(A, function()
    A:raw { opcode = 0x01, slba = B.lba_start, nlb = 0, prp1 = page }:wait()
  end)
  local harmed = m:media_holds(B.lba_start, 1, 0xBAD)
  expect.equal(harmed, m.policy == "paper", "VM B's block 0 was overwritten")
end
