-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-06", name = "Abort of other queues' commands", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "Abort by hardware queue numbers, of a waiting event request among others, and a hundred at once.",
  vms = baseline { A = { start = false } },
}

local admin = include "admin"

local ABORT, AER = 0x08, 0x0C

variant("a", { about = "the number of VM B's hardware queue, with a command of its in flight, and of no queue" }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  local q, before = admin.open(A), m:counters().admin_commands
  local io = B:write { slba = 0, blocks = 256, tag = 0xB10C, async = true }
  attack(A, function()
    for cid = 0, 3 do admin.command(q, { opcode = ABORT, cdw10 = cid << 16 | B:queue(1).qid }) end
    expect.status(admin.command(q, { opcode = ABORT, cdw10 = 0xFFFF }), "0/0x02")
    expect.status(admin.command(q, { opcode = ABORT, cdw10 = 0x12340000 }), "0/0x00")
  end)
  expect.equal(m:counters().admin_commands, before, "nothing was forwarded")
  expect.status(io:wait(), "0/0x00")
end)

variant("b", { about = "the second of three event requests: the others stay, in their order" }, function(m)
  local A, q = m:vm("A"), admin.open(m:vm("A"))
  for cid = 100, 102 do admin.put(q, { opcode = AER, cid = cid }) end
  admin.ring(q)
  expect.equal(#admin.reap(q), 0, "all three wait")
  attack(A, function()
    admin.put(q, { opcode = ABORT, cid = 7, cdw10 = 101 << 16 })
    admin.ring(q)
    local done = admin.reap(q)
    expect.equal(#done, 2)
    expect.equal(done[1].cid, 101)
    expect.status(done[1].status, "0/0x07")
    expect.equal(done[2].cid, 7)
    expect.equal(done[2].dw0, 0, "it was aborted")
    A:reg_write(0x1000, 0xFFFF)           -- an event: it goes to the first that waits
    done = admin.reap(q)
    expect.equal(#done, 1)
    expect.equal(done[1].cid, 100)
    expect.status(admin.command(q, { opcode = ABORT, cdw10 = 101 << 16 }), "0/0x00")
  end)
end)

variant("c", { about = "a hundred in one ring" }, function(m)
  local A = m:vm("A")
  local q, refused = admin.open(A, 64), 0
  attack(A, function()
    for round = 1, 2 do
      for _ = 1, 50 do admin.put(q, { opcode = ABORT, cdw10 = 0x12340000 }) end
      admin.ring(q)
      for _, c in ipairs(admin.reap(q)) do refused = refused + (c.status == "1/0x03" and 1 or 0) end
    end
  end)
  expect.equal(refused, 100 - 2 * 4, "ACL is 3: four of each ring are looked at")
end)
