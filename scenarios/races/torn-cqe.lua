-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "torn-cqe", name = "A reader between the halves of a CQE", tags = { "benign", "race", "qd" },
  about = "A second vCPU polls the entry that the next completion goes to, which holds rubbish: whoever sees the new phase finds the rest new too, over three wraps (QD-13).",
  machine = { ssd = { timing = { cqe_gap = ns(1), flush = us(1) } } },
  vms = { { name = "A", vcpus = 2, depth = 3, memory = "64M", lbas = 0x1000 } },
  limit = { time = s(2) },
}

local RUBBISH = 0x5A5A5A5A5A5A5A5A

local function poll(m, A, entry, phase)
  for _ = 1, 400 do
    local high = A:load64(entry + 8)
    if high >> 48 & 1 == phase then return A:load64(entry), high end
    m:sleep(ns(150))
  end
end

function run(m)
  local A = m:vm("A")
  local q = A:queue(1)
  expect.equal(q.entries, 3)
  race(function()
    for done = 0, 6 do
      local entry, phase = q.cq_gpa + 16 * (done % 3), 1 - done // 3 % 2
      A:store64(entry, RUBBISH)
      local seen = m:spawn { vm = A, vcpu = 1, function()
        local low, high = poll(m, A, entry, phase)
        expect.equal(low, 0, "DW0 and DW1 of completion " .. done)
        expect.equal(high and high >> 49, 0, "its status")
      end }
      expect.status(A:raw { opcode = 0x00 }:wait(ms(100)), "0/0x00")
      seen:join()
    end
  end)
  expect.violations(0)
end
