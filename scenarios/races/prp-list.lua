-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "prp-list", name = "PRP list rewritten in flight", tags = { "benign", "race", "gpa" },
  about = "VM A changes the entries of a list between its own page and VM B's while the command is taken: what was checked is what is used.",
  policies = { "mediated", "nrd" },
  vms = {
    { name = "A", vcpus = 2, memory = "64M", lbas = 0x1000 },
    { name = "B", memory = "64M", lbas = 0x1000 },
  },
  limit = { time = s(2) },
}

local BLOCKS = 24      -- three pages: PRP 1 and a list of two

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local data, list, secret = A:alloc(3), A:alloc(1), B:alloc(1)
  B:fill(secret, 4096, 0x5EC4E7)
  A:fill(data, 3 * 4096, 0xA)
  local own, other = data + A.dma_offset, secret + B.dma_offset
  A:store64(list, own + 4096)
  A:store64(list + 8, own + 8192)
  race(function()
    local entry, opcode = list + 8 * (choose(2) - 1), choose { 0x01, 0x02 }
    local good = A:load64(entry)
    local rewriter = m:spawn { vm = A, vcpu = 1, function()
      for i = 1, 3 do
        A:store64(entry, other)
        A:store64(entry, good)
      end
    end }
    local status = A:raw { opcode = opcode, slba = A.lba_base, nlb = BLOCKS - 1, prp1 = own, prp2 = list + A.dma_offset }:wait(ms(100))
    expect.status(status, "0/0x00", "0/0x04")
    rewriter:join()
  end)
  expect.holds(B, secret, 4096, 0x5EC4E7)
  expect.false_(m:media_holds(A.lba_start + 8, 8, 0x5EC4E7) or m:media_holds(A.lba_start + 16, 8, 0x5EC4E7), "B's page is not on A's blocks")
  expect.violations(0)
end
