-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "commands", name = "Flush, write zeroes, discard, compare", tags = { "benign" },
  about = "The NVM commands besides read and write do what they say, inside the VM's window.",
  vms = { { name = "A" }, { name = "B" } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  for _, vm in ipairs { A, B } do
    expect.status(vm:write { slba = 0, blocks = 64, tag = 0x10 }, "0/0x00")
  end
  expect.status(A:flush {}, "0/0x00")
  expect.status(A:write_zeroes { slba = 8, blocks = 8 }, "0/0x00")
  expect.status(A:discard { slba = 32, blocks = 16 }, "0/0x00")
  expect.status(A:compare { slba = 0, blocks = 8, tag = 0x10 }, "0/0x00")
  expect.status(A:compare { slba = 0, blocks = 8, tag = 0x11 }, "2/0x85")
  local status, gpa = A:read { slba = 0, blocks = 64 }
  expect.status(status, "0/0x00")
  expect.holds(A, gpa, 8 * 512, 0x10)
  expect.zero(A, gpa + 8 * 512, 8 * 512)
  expect.holds(A, gpa + 16 * 512, 16 * 512, 0x20)
  expect.zero(A, gpa + 32 * 512, 16 * 512)
  expect.true_(m:media_holds(B.lba_start, 64, 0x10), "the neighbour's blocks are untouched")
  expect.violations(0)
end
