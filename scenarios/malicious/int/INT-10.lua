-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-10", name = "Descriptor freed under an entry", tags = { "malicious", "interrupt", "lifetime" }, attacker = "host-bug",
  about = "VM A ends and the page of its posted-interrupt descriptor becomes VM B's; the next owner of its hardware queue has a message sent.",
  vms = baseline(),
}

local admin = include "admin"

local TABLE, MSIX_CONTROL = 0x2000, 0x50

-- A queue pair of VM D's, which asks for messages to a processor that it has not: the host does not post those.
local function queue_up(D)
  local q, one = admin.open(D), D:queue(1)
  D:cfg_write(MSIX_CONTROL, 0x80000000)
  D:reg_write(TABLE + 16, 0xFEE05000)
  D:reg_write(TABLE + 16 + 8, 0x60)
  D:reg_write(TABLE + 16 + 12, 0)
  expect.status(admin.command(q, { opcode = 0x05, prp1 = one.cq_gpa, cdw10 = 15 << 16 | 1, cdw11 = 1 << 16 | 3 }), "0/0x00")
  expect.status(admin.command(q, { opcode = 0x01, prp1 = one.sq_gpa, cdw10 = 15 << 16 | 1, cdw11 = 1 << 16 | 1 }), "0/0x00")
  return one
end

local function flush(m, D, one)
  D:store32(one.sq_gpa, 0x00)
  D:store32(one.sq_gpa + 4, 1)
  if m.policy == "paper" then D:store32(D.cmb + 0x1000 + 8 * one.qid, 1) else D:store32(one.slot + 0x18000, 1) end
  m:sleep(ms(1))
  expect.equal(D:load32(one.cq_gpa + 12) >> 16 & 1, 1, "it has completed")
end

local function reuse(m)
  local A, B = m:vm("A"), m:vm("B")
  local page, qid, frame = B.memory + B.memory_len, A:queue(1).qid, m:descriptor(A)
  attack { by = A, sister = m.policy == "mediated", function()
    m:destroy(A)
    m:plug(B, page, 4096, frame)
    local D = m:create_vm { name = "D", start = false }
    if m.policy == "mediated" then return end
    local one = queue_up(D)
    expect.equal(one.qid, qid, "VM A's hardware queue")
    flush(m, D, one)
  end }
  return B:holds(page, 4096, 0)
end

function run(m)
  expect.true_(reuse(m), "VM B's page is unchanged")
end

variant("mutant", { about = "the host leaves the entry posted" }, function(m)
  m:plant("irq_unpost")
  expect.equal(reuse(m), m.policy == "mediated", "VM B's page is unchanged")
end)
