-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "late-msi", name = "An interrupt that comes when its queue is another's", tags = { "benign", "fault", "interrupt", "lifetime" },
  about = "The message of VM A's last completion is on its way for 300 us; meanwhile VM A ends and VM C has its hardware queue: C is not upset, and nothing of A's comes to it.",
  vms = { { name = "A", lbas = 0x1000 }, { name = "B", lbas = 0x1000 } },
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local qid = A:queue(1).qid
  expect.status(A:write { slba = 0, blocks = 8, tag = 0xA0 }, "0/0x00")
  -- Not of the admin queue, which has vector 0: the host waits for those itself.
  m:fault { kind = "msi_late", vector = qid, time = us(2000) }
  local io = A:read { slba = 0, blocks = 8, async = true }
  m:sleep(us(150))
  expect.equal(m:fault_hits("msi_late"), 1)
  m:destroy(A)
  local C = m:create_vm { name = "C", queues = 1, lbas = 0x1000 }
  expect.equal(C:queue(1).qid, qid, "VM C has VM A's old hardware queue")
  expect.status(C:write { slba = 0, blocks = 8, tag = 0xC0 }, "0/0x00")
  m:sleep(ms(3))
  local status, gpa = C:read { slba = 0, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.holds(C, gpa, 4096, 0xC0)
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB0 }, "0/0x00")
  expect.violations(0)
end
