-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CFG-04", name = "Inconsistent tables of queues and vectors", tags = { "malicious", "config" }, attacker = "config",
  about = "VM D is to have queue pair 0 with the admin vector, one that is VM A's or the host's, one past the table, or more than there are vectors.",
  machine = { ssd = { queues = 16, msix = 12 } },
  vms = baseline(),
}

local function tables(m)
  local list = { { qid = 0 }, { qid = 1 }, { qid = 12 }, { qid = 17 }, { qid = 0xFFFF } }
  if m.policy ~= "mediated" then             -- there each VM has one hardware pair, whatever its queues
    list[#list + 1] = { queues = 6 }         -- 5 of 11 vectors are left
    list[#list + 1] = { qid = 8, queues = 5 }
    list[#list + 1] = { qid = m:vm("A"):queue(2).qid }
  end
  return list
end

function run(m)
  configure(function()
    for i, t in ipairs(tables(m)) do
      local vm = m:create_vm { name = "D" .. i, qid = t.qid, queues = t.queues, lbas = 0x1000 }
      expect.equal(vm, nil, "a VM with such queues")
    end
    expect.equal(m:create_vm { name = "Dv", vectors = 17, lbas = 0x1000 }, nil, "a VM with more vectors than it can have")
  end)
  local D = m:create_vm { name = "D", qid = 11, lbas = 0x1000 }
  expect.status(D:write { slba = 0, blocks = 8, tag = 1 }, "0/0x00")
  expect.violations(0)
end
