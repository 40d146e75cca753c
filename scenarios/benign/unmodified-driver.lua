-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "unmodified-driver", name = "A stock NVMe driver under mediated", tags = { "benign", "smoke" },
  about = "A driver that has never heard of LightIOV, with queues in its own memory and doorbells in BAR 0, beside a LightIOV guest.",
  policies = { "mediated" },
  vms = { { name = "stock", driver = "stock", queues = 2, depth = 64 }, { name = "A" } },
}

function run(m)
  local S, A = m:vm("stock"), m:vm("A")
  expect.status(S:write { slba = 1000, blocks = 16, tag = 0x57 }, "0/0x00")
  local status, gpa = S:read { slba = 1000, blocks = 16, queue = 2 }
  expect.status(status, "0/0x00")
  expect.holds(S, gpa, 16 * 512, 0x57)
  expect.true_(m:media_holds(S.lba_start + 1000, 16, 0x57), "in its own window")
  local load = {}
  for q = 1, 2 do
    load[q] = S:workload { queue = q, depth = 16, blocks = 8, read_percent = 50, first = q * 0x1000, span = 0x1000, requests = 500, cpu = us(2) }
  end
  load[3] = A:workload { depth = 16, blocks = 8, read_percent = 50, span = 0x1000, requests = 500, cpu = us(2) }
  for i = 1, 3 do
    expect.true_(load[i]:join())
    local r = load[i]:result()
    expect.equal(r.errors + r.wrong + r.twice + r.outstanding, 0)
  end
  expect.violations(0)
end
