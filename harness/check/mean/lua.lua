-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-lua", name = "A script against its sandbox", tags = { "malicious" },
  about = "Deep calls, long texts, callbacks in callbacks, errors of every kind.",
  vms = { { name = "A" } }, limit = { time = s(1), events = 100000 },
}


variant("recursion", function(m) local function f(n) return 1 + f(n + 1) end f(1) end)
variant("attacks", function(m) local A = m:vm("A") local function f() attack(A, f) end f() end)
variant("gsub", function(m) local function f(s) return (s:gsub(".", f)) end f("aaaa") end)
variant("sort", function(m) local function f(a, b) local t = { 3, 2, 1 } table.sort(t, f) return a < b end f(1, 2) end)
variant("pcalls", function(m) local function f() pcall(f) end f() end)
variant("pattern", function(m) local s = ("a"):rep(5000) s:find(("a?"):rep(5000) .. ("a"):rep(5000)) end)
variant("brackets", function(m) ("x"):rep(10):find(("("):rep(200)) end)
variant("rep", function(m) local s = "x" for i = 1, 60 do s = s .. s end end)
variant("table", function(m) local t = {} for i = 1, 1 << 40 do t[i] = i end end)
variant("error", function(m) error({}) end)
variant("error-nil", function(m) error(nil) end)
variant("error-long", function(m) error(("x"):rep(100000)) end)
variant("yield", function(m) if coroutine then coroutine.yield() end error("no") end)
variant("spawn-error", function(m) for i = 1, 100 do m:spawn(function() error("a") end) end m:sleep(1) end)
variant("measure", function(m) for i = 1, 100 do measure("m" .. i, i / 0) end end)
variant("format", function(m) string.format(("%99.99f"):rep(100), 2.0 ^ 1023) end)
