-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-09", name = "PRP1 and list pointer alignment", tags = { "malicious", "gpa", "prp" }, attacker = "guest-kernel",
  about = "PRP1 at an odd word; a list pointer that is not 8-byte aligned; one with 4 bytes left in its page.",
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local data, list = A:alloc(8), A:alloc(2)
  expect.status(A:write { slba = 0, blocks = 64, tag = 0xA00 }, "0/0x00")
  for i = 1, 7 do
    A:store64(list + 4 + 8 * (i - 1), data + 4096 * i)
    A:store64(list + 0xFFC + 8 * (i - 1), data + 4096 * i)
  end
  local function read(nlb, prp1, prp2)
    attack(A, function()
      expect.status(A:raw { opcode = 0x02, slba = A.lba_base, nlb = nlb, prp1 = prp1, prp2 = prp2 }:wait(), "0/0x13")
    end)
  end
  read(0, data + 2, 0)
  read(0x3F, data, list + 4)
  read(0x3F, data, list + 0xFFC)
  expect.zero(A, data, 8 * 4096)
end
