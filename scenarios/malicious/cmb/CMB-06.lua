-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CMB-06", name = "Queues in the CMB where none may be", tags = { "malicious", "cmb" }, attacker = "guest-kernel",
  about = "Create CQ and SQ at places in the virtual CMB that are not that queue's: another slot, the info page, half past the end.",
  vms = baseline(),
}

local CREATE_SQ, CREATE_CQ, DELETE_SQ, DELETE_CQ = 0x01, 0x05, 0x00, 0x04

function run(m)
  local A, C = m:vm("A"), m:vm("C")
  local one, two = A:queue(1), A:queue(2)
  A:admin { opcode = DELETE_SQ, cdw10 = 2 }
  A:admin { opcode = DELETE_CQ, cdw10 = 2 }
  local before = m:counters().admin_commands
  local function create(opcode, at) return A:admin { opcode = opcode, prp1 = at, cdw10 = 0x3FF << 16 | 2, cdw11 = opcode == CREATE_SQ and 1 << 16 | 1 or 1 } end
  attack(A, function()
    local places = {
      A.cmb, one.sq_gpa, one.cq_gpa, two.sq_gpa + 0x1000, two.slot + (two.slot - one.slot) * 6,
      A.cmb + A.cmb_size - 0x1000,                               -- 4 KiB of it inside, the rest past the end
    }
    for _, at in ipairs(places) do
      expect.status(create(CREATE_CQ, at), "0/0x12")
      expect.status(create(CREATE_SQ, at), "0/0x12")
    end
    expect.status(create(CREATE_CQ, two.sq_gpa), "0/0x12")       -- of the queue, but of the other kind
    expect.status(create(CREATE_SQ, two.cq_gpa), "0/0x12")
  end)
  expect.equal(m:counters().admin_commands, before, "nothing was forwarded")
  expect.status(C:write { slba = 0, blocks = 8, tag = 1 }, "0/0x00")
end
