-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "poisoned-sqe", name = "Poisoned completion of a command fetch", tags = { "benign", "fault", "reset" },
  about = "A command's fetch arrives poisoned: the controller gives up (CSTS.CFS), all VMs stand; the host resets it, and all go on. Under mediated nobody loses a command.",
  vms = { { name = "A", lbas = 0x1000 }, { name = "B", lbas = 0x1000 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB0 }, "0/0x00")
  m:fault { kind = "poisoned", what = "sqe" }
  local lost = A:read { slba = 0, blocks = 8, async = true }
  expect.equal(lost:wait(ms(2)), "timeout", "a dead controller answers nothing")
  expect.equal(m:fault_hits("poisoned", "sqe"), 1)
  expect.status(m:reset_controller(), "0/0x00")
  m:sleep(ms(20))
  if m.policy == "mediated" then
    expect.status(lost:wait(ms(10)), "0/0x00")
  else
    expect.status(lost:wait(ms(10)), "0/0x08")
  end
  for _, vm in ipairs { A, B } do
    expect.status(vm:write { slba = 8, blocks = 8, tag = 0x77 }, "0/0x00")
  end
  local status, gpa = B:read { slba = 0, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.holds(B, gpa, 4096, 0xB0)
  expect.violations(0)
end
