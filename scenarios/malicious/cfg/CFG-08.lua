-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CFG-08", name = "Raw command blobs", tags = { "malicious", "config", "loader" }, attacker = "config",
  about = "Commands of 63 and 65 bytes, of half a byte, of what is no digit, for VMs and queues that there are not, and a completion.",
  vms = { { name = "A" } },
}

local whole = "0000000001000000" .. ("0"):rep(112)

local function text(event)
  return "scenario { vms = { { name = \"A\", queues = 2 } }, events = { { " .. event .. " } } } function run(m) end"
end

local function sqe(digits)
  return "vm = \"A\", sqe = \"" .. digits .. "\""
end

function run(m)
  configure(function()
    for i, event in ipairs {
      sqe(whole:sub(3)), sqe(whole .. "00"), sqe(whole:sub(2)), sqe(whole .. "0"), sqe(""), sqe(whole:sub(2) .. "g"),
      sqe(whole:sub(3) .. "\\0\\0"), sqe(whole:sub(3) .. "0x"), "vm = \"A\"", "sqe = \"" .. whole .. "\"",
      "vm = \"B\", sqe = \"" .. whole .. "\"", sqe(whole) .. ", queue = 0", sqe(whole) .. ", queue = 3",
      sqe(whole) .. ", queue = 0x100000001", "vm = \"A\", cqe = \"" .. ("0"):rep(32) .. "\"", "vm = \"A\", sqe = 0x7F",
    } do
      expect.equal(load(text(event)), nil, "event " .. i)
    end
  end)
  expect.true_(load(text(sqe(whole) .. ", queue = 2")), "64 bytes for a queue that there is")
end
