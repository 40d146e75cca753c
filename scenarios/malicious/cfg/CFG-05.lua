-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CFG-05", name = "Numbers on the edge of what can be read", tags = { "malicious", "config", "loader" }, attacker = "config",
  about = "Numbers that a careless reader bends: signs, exponents, units, separators, more than 64 bits, bytes that only look like digits.",
  vms = { { name = "A" } },
}

local numbers = {
  "-1", "0x", "0x1_0000", "1_0000", "1e9", "0x1p4", "1.5", "18446744073709551616", "0x10000000000000000", "0100", "+5", "4kib",
  "1\0002", "\xEF\xBC\x91", "1\xEF\xBC\x91", "\"-1\"", "\"4kib\"", "\"0x\"", "\"1e9\"", "\"\"",
}

local function text(key, number)
  return "scenario {\n  id = \"X\",\n  vms = { { name = \"A\", " .. key .. " = " .. number .. " } },\n}\nfunction run(m) end\n"
end

function run(m)
  configure(function()
    for _, key in ipairs { "lbas", "memory" } do
      for _, number in ipairs(numbers) do
        local ok, why = load(text(key, number))
        expect.equal(ok, nil, key .. " = " .. number)
        local by_key = number == "1.5" or number:sub(1, 1) == "\""   -- a number, or a text, but not one for that key
        expect.true_(why:find(by_key and "^text:%d+: .*'" .. key .. "'" or "^text:3:") ~= nil, "it says where: " .. why)
      end
    end
  end)
  for _, number in ipairs { "0x100000", "1048576" } do
    expect.true_(load(text("lbas", number)), number)
  end
end
