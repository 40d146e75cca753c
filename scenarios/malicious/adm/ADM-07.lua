-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-07", name = "Event requests", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "One request more than there may be; a doorbell error of VM A's, while VM B waits for events.",
  vms = baseline(),
}

local admin = include "admin"

local AER = 0x0C

variant("a", { about = "AERL + 2", vms = baseline { A = { start = false } } }, function(m)
  local q = admin.open(m:vm("A"))
  attack(m:vm("A"), function()
    for _ = 0, 5 do admin.put(q, { opcode = AER }) end
    admin.ring(q)
    for _, done in ipairs(admin.reap(q)) do expect.status(done.status, "1/0x05") end
  end)
end)

-- The SSD ignores such a value whoever wrote it (QD-03); here it is about where the event of it goes.
variant("b", { about = "the event is the host's, or VM A's own", vms = baseline { B = { start = false } } }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  local q, bell = admin.open(B), A:queue(1).sq_doorbell
  for cid = 0, 2 do admin.put(q, { opcode = AER, cid = cid }) end
  admin.ring(q)
  local function ring()
    A:store32(bell, 0x3FFF)
  end
  if m.policy ~= "mediated" then ring() end
  attack(A, function()
    if m.policy == "mediated" then ring() end
    m:sleep(ms(5))
  end)
  expect.equal(#admin.reap(q), 0, "events that VM B was told of")
end)
