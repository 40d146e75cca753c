-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-13", name = "Buffer crosses a region's end", tags = { "malicious", "gpa" }, attacker = "guest-kernel",
  about = "VM A's memory has two regions with a hole between; a buffer starts 4 KiB before the first one's end.",
  vms = baseline { A = { ram = { { gpa = 0x200000000, memory = "1G" }, { gpa = 0x260000000, memory = "256M" } } } },
}

local LAST = 0x200000000 + (1 << 30) - 0x1000

variant("a", { about = "the reply of an emulated admin command" }, function(m)
  local A = m:vm("A")
  attack(A, function()
    expect.status(A:admin { opcode = 0x06, cdw10 = 1, prp1 = LAST + 0x800, prp2 = LAST + 0x1000 }, "0/0x04")
  end)
  expect.zero(A, LAST + 0x800, 0x800)
end)

variant("b", { about = "64 KiB of data" }, function(m)
  local A = m:vm("A")
  expect.status(A:write { slba = 0, blocks = 128, tag = 0xA00 }, "0/0x00")
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 127, data = LAST }:wait()
  end)
end)
