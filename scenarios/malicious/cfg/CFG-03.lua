-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CFG-03", name = "Impossible controller capabilities", tags = { "malicious", "config", "loader" }, attacker = "config",
  about = "An SSD is described that no controller can be, or one at the edge of what CAP can say.",
  vms = { { name = "A" } },
}

local impossible = {
  "mqes = 0", "mqes = 0x10000", "mpsmin = 2, mpsmax = 1", "mpsmin = 1", "sqes = 0x67", "sqes = 0x57", "cqes = 0x45",
  "mdts = 31", "dstrd = 16", "queues = 0", "queues = 65536", "nsze = 0", "cmb = \"2G\"",
}

variant("a", { about = "impossible: refused" }, function(m)
  configure(function()
    for _, words in ipairs(impossible) do
      local ok, why = load("scenario { machine = { ssd = { " .. words .. " } } } function run(m) end")
      expect.equal(ok, nil, words)
      expect.true_(why:find(words:match("^%l+"), 1, true) ~= nil, "it says which: " .. why)
    end
  end)
end)

variant("b", { about = "legal: MQES FFFFh, DSTRD 15", machine = { ssd = { mqes = 0xFFFF, dstrd = 15, queues = 511 } } }, function(m)
  local D
  configure { legal = true, function() D = m:create_vm { name = "D", qid = 511, lbas = 0x1000 } end }
  expect.status(D:write { slba = 0, blocks = 8, tag = 0xD }, "0/0x00")
  local status, gpa = D:read { slba = 0, blocks = 8 }
  expect.status(status, "0/0x00")
  expect.holds(D, gpa, 4096, 0xD)
  expect.equal(D:queue(1).entries, 1024, "entries, not 65536 in 16 bits")
  expect.violations(0)
end)
