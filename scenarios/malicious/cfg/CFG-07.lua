-- SPDX-License-Identifier: GPL-2.0
local FLUSH = "0000000001000000" .. ("0"):rep(112)

scenario {
  id = "CFG-07", name = "Times and counts of events", tags = { "malicious", "config", "loader" }, attacker = "config",
  about = "Events without a period, without end, or past the end of time; and legal ones out of order and at one instant.",
  vms = { { name = "A" } },
  events = {
    { at = us(30), vm = "A", sqe = FLUSH },
    { at = us(10), vm = "A", sqe = FLUSH },
    { at = us(10), vm = "A", sqe = FLUSH },
    { at = us(20), every = us(5), count = 4, vm = "A", sqe = FLUSH },
  },
}

local function text(times)
  return "scenario { vms = { { name = \"A\" } }, events = { { vm = \"A\", sqe = \"" .. FLUSH .. "\", " .. times .. " } } } function run(m) end"
end

variant("a", { about = "none of these can be" }, function(m)
  configure(function()
    for _, times in ipairs {
      "count = 2", "every = 0, count = 2", "count = 0", "count = 0x8000000000000000, every = 1", "count = 1001, every = 1",
      "at = 0xFFFFFFFFFFFFFFFF", "at = 0xFFFFFFFFFFFFFFFF, every = 1, count = 2", "every = 0x4000000000000000, count = 4",
      "every = s(3600), count = 3", "at = us(1.5)", "at = -1",
    } do
      expect.equal(load(text(times)), nil, times)
    end
    for _, limit in ipairs { "time = 0", "time = 0xFFFFFFFFFFFFFFFF", "events = 0", "events = 0x8000000000000000" } do
      expect.equal(load("scenario { limit = { " .. limit .. " } } function run(m) end"), nil, limit)
    end
  end)
end)

variant("b", { about = "equal and unordered times have an order" }, function(m)
  configure { legal = true, function()
    expect.true_(load(text("at = us(1), every = us(1), count = 1000")))
    expect.true_(load(text("at = 0")))
  end }
  local before = m:queue_fetched(m:vm("A"):queue(1).qid)
  m:sleep(ms(1))
  expect.equal(m.events_sent, 7, "events")
  expect.equal(m:queue_fetched(m:vm("A"):queue(1).qid) - before, 7, "commands fetched")
end)
