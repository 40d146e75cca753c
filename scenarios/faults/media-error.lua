-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "media-error", name = "Blocks that cannot be read or written", tags = { "benign", "fault" },
  about = "Four blocks of VM A's are broken: its reads say 2/0x81, its writes 2/0x80, whoever checks in between; all other blocks, and VM B, know nothing of it.",
  vms = { { name = "A", lbas = 0x1000 }, { name = "B", lbas = 0x1000 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  for _, vm in ipairs { A, B } do expect.status(vm:write { slba = 0, blocks = 64, tag = 0x100 }, "0/0x00") end
  m:fault { kind = "media", lba = A.lba_start + 16, blocks = 4 }
  expect.status(A:read { slba = 16, blocks = 8 }, "2/0x81")
  expect.status(A:write { slba = 12, blocks = 8, tag = 0x200 }, "2/0x80")
  expect.true_(m:media_holds(A.lba_start + 12, 4, 0x10C), "a write that failed changed nothing")
  expect.status(A:read { slba = 20, blocks = 8 }, "0/0x00")
  local status, gpa = B:read { slba = 16, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.holds(B, gpa, 4096, 0x110)
  m:fault { kind = "media", lba = 0, blocks = 0 }     -- whole again
  expect.status(A:write { slba = 12, blocks = 8, tag = 0x200 }, "0/0x00")
  expect.violations(0)
end
