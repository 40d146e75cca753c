-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-05", name = "PRP list outside the guest's memory", tags = { "malicious", "gpa", "prp" }, attacker = "guest-kernel",
  about = "A read of 8 pages whose PRP list is a page of VM B's: what is there is taken for addresses, and the outcome tells of it.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local data, list = A:alloc(1), B.memory + 0x5000
  for i = 0, 6 do B:store64(list + 8 * i, 0x5EC4E700 + i) end
  -- One that is in order first: what it said must not be used again.
  local pages, own = A:alloc(7), A:alloc(1)
  for i = 0, 6 do A:store64(own + 8 * i, pages + 4096 * i) end
  expect.status(A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0x3F, prp1 = data, prp2 = own }:wait(), "0/0x00")
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0x3F, prp1 = data, prp2 = list }:wait()
  end)
  expect.zero(A, data, 4096)
end
