-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-07", name = "Dataset Management: LBAs in the payload", tags = { "malicious", "lba", "dsm" }, attacker = "guest-kernel",
  about = "Deallocate with one range in the payload that names VM B's whole window; the SQE itself carries no LBA.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB10C }, "0/0x00")
  local payload = A:alloc(1)
  A:store32(payload, 0)                     -- context attributes
  A:store32(payload + 4, B.lba_count)       -- length in blocks
  A:store64(payload + 8, B.lba_start)
  attack(A, function()
    A:raw { opcode = 0x09, cdw10 = 0, cdw11 = 4, cdw12 = 0, prp1 = payload }:wait()
  end)
  local kept = m:media_holds(B.lba_start, 8, 0xB10C)
  expect.equal(kept, m.policy ~= "paper", "VM B's blocks are still there")
end
