-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-04", name = "Rewrite another VM's queue by DMA", tags = { "malicious", "gpa", "queue" }, attacker = "guest-kernel",
  about = "VM A reads a crafted block with PRP1 at the IOVA of VM B's SQ, or CQ, page.",
  vms = baseline(),
}

local function overwrite(m, ring)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xF04 }, "0/0x00")
  expect.status(B:read { slba = 0, blocks = 8 }, "0/0x00")
  local target = B:queue(1)[ring]
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 7, prp1 = target }:wait()
  end)
end

variant("a", { about = "SQ page: forged commands" }, function(m) overwrite(m, "sq_iova") end)
variant("b", { about = "CQ page: forged completions" }, function(m) overwrite(m, "cq_iova") end)
