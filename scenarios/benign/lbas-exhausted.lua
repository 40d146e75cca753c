-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "lbas-exhausted", name = "Refusal when blocks or vectors run out", tags = { "benign", "resources" },
  about = "What cannot be given is refused with a word, and nothing of it stays taken.",
  vms = { { name = "A", lbas = 0x100000 } },
}

function run(m)
  local vm, why = m:create_vm { name = "too-big", lbas = 0x700000 }
  expect.equal(vm, nil)
  expect.equal(why, "ENOSPC")
  vm, why = m:create_vm { name = "no-queues", queues = 16 }
  expect.equal(why, "EINVAL")
  vm = m:create_vm { name = "fits", lbas = 0x600000 }
  expect.equal(vm.lba_start, 0x200000, "the refused request kept nothing")
  local more
  more, why = m:create_vm { name = "no-more", lbas = 1 }
  expect.equal(why, "ENOSPC")
  expect.status(vm:write { slba = 0x5FFFF8, blocks = 8, tag = 0x77 }, "0/0x00")
  expect.violations(0)
end
