-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "mean-balloon", name = "Memory that comes and goes", tags = { "malicious" },
  about = "Pages under I/O taken out by the host, and put back elsewhere.",
  vms = { { name = "A", memory = "64M", vcpus = 2 }, { name = "B" } }, limit = { time = s(10), events = 3000000 },
}


local function touch(A) for off = 0, 63 do A:load8(A.memory + off * 0x100000) end end

variant("round", function(m)
  local A = m:vm("A")
  touch(A)
  for i = 1, 40 do
    local at = A.memory + 0x200000 * (i % 7)
    pcall(m.balloon, m, A, at, 0x200000)
    A:load8(at)
    pcall(m.plug, m, A, at, 0x200000)
    A:store8(at, 1)
  end
end)
variant("pages", function(m)
  local A = m:vm("A")
  touch(A)
  for i = 1, 20 do
    local at = A.memory + 0x1000 * i * 3
    pcall(m.balloon, m, A, at, 4096)
    A:load8(at)
    pcall(m.plug, m, A, at, 4096)
    A:store8(at, 1)
  end
end)
variant("in-use", function(m)
  local A = m:vm("A")
  local load = A:workload { depth = 16, read_percent = 50, span = 0x400, may_fail = true }
  m:sleep(us(500))
  for i = 1, 6 do pcall(m.balloon, m, A, A.memory + 0x4000000 - 0x100000 * i, 0x100000) end
  m:sleep(ms(1))
  load:stop(ms(10))
  m:destroy(A)
  m:create_vm { name = "C", memory = "64M", gpa = 0x200000000 }
end)
variant("all", function(m)
  local A = m:vm("A")
  pcall(m.balloon, m, A, A.memory, 0x4000000)
  pcall(A.read, A, { slba = 0, blocks = 8 })
  pcall(m.plug, m, A, 0xE1000000, 0x200000)
  A:load32(A.cmb)
  m:destroy(A)
end)
