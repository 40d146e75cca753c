-- SPDX-License-Identifier: GPL-2.0
local queue = include "queue"

scenario {
  id = "QD-08", name = "Create CQ with bad fields", tags = { "malicious", "queue", "admin" }, attacker = "guest-kernel",
  about = "Each field of Create I/O Completion Queue as it may not be. The virtual controller says no; the SSD hears nothing of it.",
  vms = baseline { A = { start_queues = 1 } },
}

-- Queue 2 is free, queue 1 the driver's, and there are no others.
local function create(changes, status)
  return function(m)
    local A = m:vm("A")
    local before = m:counters().admin_commands
    attack(A, function()
      for _, change in ipairs(changes) do
        expect.status(queue.create_cq(A, 2, 64, change), status)
      end
    end)
    expect.equal(m:counters().admin_commands, before, "the SSD was not asked")
  end
end

local function qid(id) return { cdw10 = id | 63 << 16 } end
local function size(n) return { cdw10 = 2 | n << 16 } end
local function vector(v) return { cdw11 = 3 | v << 16 } end

variant("a", { about = "queue 0, above the limit, in use" }, create({ qid(0), qid(3), qid(64), qid(0xFFFF), qid(1) }, "1/0x01"))
variant("b", { about = "no entries, and more than MQES" }, create({ size(0), size(0x400), size(0xFFFF) }, "1/0x02"))

variant("c", { about = "vector outside the table, or any with MSI-X off" }, function(m)
  local A = m:vm("A")
  create({ vector(3), vector(65), vector(0xFFFF) }, "1/0x08")(m)
  local at = A:cfg_read(0x34) & 0xFC
  while A:cfg_read(at) & 0xFF ~= 0x11 do at = A:cfg_read(at) >> 8 & 0xFC end
  A:cfg_write(at, A:cfg_read(at) & ~(1 << 31))
  attack(A, function() queue.create_cq(A, 2, 64, vector(1)) end)   -- the answer brings no interrupt, so the driver times out
  A:cfg_write(at, A:cfg_read(at) | 1 << 31)
  expect.status(queue.create_sq(A, 2, 64), "1/0x00")               -- ... but no CQ was made
end)

variant("d", { about = "PRP1 with an offset" }, function(m)
  create({ { prp1 = m:vm("A"):queue(2).cq_gpa + 0x200 } }, "0/0x13")(m)
end)

variant("e", { about = "not contiguous, where CAP.CQR = 1" }, create({ { cdw11 = 0 } }, "0/0x02"))
