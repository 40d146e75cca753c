-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "bring-up", name = "Three VMs come up, write and read back", tags = { "benign", "smoke" },
  about = "The baseline's VMs, each on queues of its own: what is written is read, by nobody else, and no exit is taken on the way.",
  vms = baseline(),
}

function run(m)
  local A, B, C = m:vm("A"), m:vm("B"), m:vm("C")
  for i, vm in ipairs { A, B, C } do
    expect.status(vm:write { slba = 100, blocks = 16, tag = 0x1000 * i }, "0/0x00")
  end
  for i, vm in ipairs { A, B, C } do
    local status, gpa = vm:read { slba = 100, blocks = 16 }
    expect.status(status, "0/0x00")
    expect.holds(vm, gpa, 16 * 512, 0x1000 * i)
    expect.true_(m:media_holds(vm.lba_start + 100, 16, 0x1000 * i), "blocks lie where the VM's window is")
  end
  local before = A:exits()
  for slba = 0, 63 do
    expect.status(A:read { slba = slba * 8, blocks = 8, queue = 1 + slba % 2 }, "0/0x00")
  end
  if m.policy ~= "mediated" then
    expect.at_most(A:exits() - before, 70, "first touches of memory and pages only")
  end
  expect.violations(0)
end
