-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EXH-03", name = "Storm of events into the host's admin queue", tags = { "malicious", "exhaustion", "admin" }, attacker = "guest-kernel",
  about = "VM A makes a million doorbell errors a second. Each event would cost the host a log page and a new request, on the admin queue that all share.",
  vms = baseline { A = { vcpus = 2 } },
}

-- VM B deletes and creates a queue: commands on the shared admin queue.
local function recreate(m, B)
  local q, before = B:queue(2), m:now()
  expect.status(B:admin { opcode = 0x00, cdw10 = 2 }, "0/0x00")
  expect.status(B:admin { opcode = 0x01, cdw10 = 2 | 0xFF << 16, cdw11 = 1 | 1 << 16, prp1 = q.sq_gpa }, "0/0x00")
  return m:now() - before
end

local function p99(m, B)
  local worst = 0
  for _ = 1, 20 do
    worst = math.max(worst, recreate(m, B))
    m:sleep(ms(3))
  end
  return worst
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local doorbell, off, pending = A:queue(1).sq_doorbell, false, 0
  recreate(m, B)
  local alone = p99(m, B)
  attack(A, function()
    local storm = m:spawn { vm = A, vcpu = 1, function()
      while not off do
        for _ = 1, 100 do A:store32(doorbell, 0xFFFF) end
        m:sleep(us(90))
        pending = math.max(pending, m:counters().events_pending)
      end
    end }
    m:sleep(ms(5))
    local start, logs, bad = m:now(), m:counters().log_pages, m:counters().doorbells_bad
    local beside = p99(m, B)
    local seconds = (m:now() - start) / s(1)
    off = true
    storm:join()
    logs, bad = m:counters().log_pages - logs, m:counters().doorbells_bad - bad
    if m.policy == "mediated" then
      expect.equal(logs + bad, 0, "nothing of it reached the SSD")
      return
    end
    expect.at_least(bad / seconds, 900000, "doorbell errors a second")
    measure("host.log_reads", logs / seconds)
    measure("others.admin_p99_slowdown", beside / alone)
    measure("pending events bounded", pending <= 4)
    if logs > 0 then degraded() end
  end)
end
