-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CFG-06", name = "Structure attacks on the scenario file", tags = { "malicious", "config", "loader" }, attacker = "config",
  about = "Nesting without end, a line that is too long, keys twice or unknown, includes that leave the folder, no content, a byte-order mark, compiled code.",
  vms = { { name = "A" } },
}

local run_line = " function run(m) end"
local texts = {
  "", "\n\n", "function run(m) end", "scenario { vms = { { name = \"A\" } } }",
  "scenario { x = " .. ("{"):rep(100000), "return " .. ("("):rep(100000) .. "1", ("do "):rep(80000),
  "scenario { id = \"" .. ("A"):rep(300000) .. "\" }" .. run_line,
  "scenario { id = \"X\", id = \"Y\" }" .. run_line,
  "scenario { vms = { { name = \"A\", lbas = 1, lbas = 2 } } }" .. run_line,
  "scenario { vms = { { name = \"A\" }, { name = \"A\" } } }" .. run_line,
  "scenario { nosuch = 1 }" .. run_line,
  "scenario { machine = { ssd = { quues = 3 } } }" .. run_line,
  "scenario { id = \"X\" } scenario { id = \"Y\" }" .. run_line,
  "scenario { id = \"X\" } include \"../cfg/CFG-05\"" .. run_line,
  "scenario { id = \"X\" } include \"/etc/passwd\"" .. run_line,
  "scenario { id = \"X\" } include \"..\"" .. run_line,
  "scenario { id = \"X\" } require \"os\"" .. run_line,
  "scenario { id = \"X\" } while true do end" .. run_line,
  "scenario { id = \"X\" } local t = {} for i = 1, 100000000 do t[i] = i end" .. run_line,
  "scenario { id = \"X\" } local function f() return 1 + f() end f()" .. run_line,
  "\xEF\xBB\xBFscenario { id = \"X\" }" .. run_line,
  "\x1BLua\x54\x00",
}

function run(m)
  configure(function()
    for i, text in ipairs(texts) do
      local ok, why = load(text)
      expect.equal(ok, nil, "text " .. i)
      expect.true_(why:find("^text:%d+:") ~= nil, "it says where: " .. why)
    end
  end)
  expect.true_(load("scenario { id = \"X\" }\r\nfunction run(m)\r\nend\r\n"), "lines may end in CR LF")
end
