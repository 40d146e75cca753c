-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QD-15", name = "The rest of a doorbell's page", tags = { "malicious", "doorbell" }, attacker = "guest-kernel",
  about = "VM A stores a tail to each dword of the pages that have its doorbells, but to these themselves, in search of other queues'.",
  policies = { "nrd", "siov" }, vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local q = A:queue(1)
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
  local qid, before = m:vm("B"):queue(1).qid, m:queue_fetched(m:vm("B"):queue(1).qid)
  attack(A, function()
    for off = 4, 4092, 4 do
      A:store32(q.sq_doorbell + off, 5)
      A:store32(q.cq_doorbell + off, 5)
    end
    m:sleep(ms(1))
  end)
  expect.equal(m:queue_fetched(qid), before, "commands of VM B's that were fetched")
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
end
