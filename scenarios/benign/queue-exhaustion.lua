-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "queue-exhaustion", name = "Refusal when 128 queues are gone", tags = { "benign", "resources" },
  about = "A P4510 has 128 I/O queue pairs and the host keeps one: VMs of 15 are served until a request does not fit, which is refused with nothing taken.",
  policies = { "paper", "nrd", "siov" },
  machine = { ssd = { queues = 128 }, backend = { host_lbas = 0x1000 } },
  vms = { { name = "first", queues = 15, lbas = 0x1000 } },
}

function run(m)
  local last = m:vm("first")
  for i = 2, 8 do
    last = m:create_vm { name = "vm" .. i, queues = 15, lbas = 0x1000 }
  end
  expect.equal(last:queue(15).qid, 121, "8 x 15 pairs, and the host's")
  local vm, why = m:create_vm { name = "too-many", queues = 8, lbas = 0x1000 }
  expect.equal(vm, nil)
  expect.equal(why, "ENOSPC")
  local rest = m:create_vm { name = "rest", queues = 7, lbas = 0x1000 }
  expect.equal(rest:queue(7).qid, 128, "the last one")
  vm, why = m:create_vm { name = "none-left", queues = 1, lbas = 0x1000 }
  expect.equal(why, "ENOSPC")
  m:destroy(rest)
  rest = m:create_vm { name = "again", queues = 7, lbas = 0x1000 }
  expect.status(rest:write { slba = 0, blocks = 8, tag = 0x1 }, "0/0x00")
  expect.violations(0)
end
