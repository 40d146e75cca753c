-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "eight-vms", name = "Eight VMs at once", tags = { "benign", "load" },
  about = "Each reads and writes its own blocks at depth 16; all data is right, nothing is lost or completed twice.",
  vms = {
    { name = "V1" }, { name = "V2" }, { name = "V3" }, { name = "V4" },
    { name = "V5", lbas = 0x20000 }, { name = "V6", lbas = 0x20000 }, { name = "V7", lbas = 0x20000 }, { name = "V8", lbas = 0x20000 },
  },
}

function run(m)
  local load = {}
  for i = 1, 8 do
    load[i] = m:vm("V" .. i):workload { depth = 16, blocks = 8, read_percent = 70, span = 0x2000, requests = 1000, cpu = us(2) }
  end
  for i = 1, 8 do
    expect.true_(load[i]:join(), "VM " .. i .. " finishes")
    local r = load[i]:result()
    expect.equal(r.completed, 1000)
    expect.equal(r.errors + r.wrong + r.twice + r.outstanding, 0, "errors, wrong data, completed twice, lost")
  end
  expect.violations(0)
end
