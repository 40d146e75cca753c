-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EXH-08", name = "SGL that never finishes", tags = { "malicious", "exhaustion" }, attacker = "guest-kernel",
  about = "A chain of segments without data that leads to itself, and one of 131,072 empty data blocks: the SSD must not walk them for ever.",
  machine = { ssd = { sgls = true } },
  vms = baseline(),
}

local DATA, SEGMENT, LAST = 0x00, 0x20, 0x30

local function descriptor(vm, at, addr, len, kind)
  vm:store64(at, addr)
  vm:store64(at + 8, len | kind << 56)
end

local function send(A, addr, len, kind)
  return A:raw { opcode = 0x02, flags = 0x40, slba = A.lba_base, nlb = 7, prp1 = addr, prp2 = len | kind << 56 }
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local loop, empty = A:alloc(1), A:alloc(512)
  descriptor(A, loop, 0, 0, DATA)
  descriptor(A, loop + 16, loop, 32, SEGMENT)
  local load = B:workload { depth = 4, blocks = 8, read_percent = 50, span = 0x1000, cpu = us(2) }
  m:sleep(ms(1))
  local before = load:result().completed
  attack(A, function()
    local one, two = send(A, loop, 32, SEGMENT), send(A, empty, 2 << 20, LAST)
    expect.different(one:wait(ms(5)), "timeout", "the loop is left")
    expect.different(two:wait(ms(5)), "timeout", "the empty blocks are left")
    m:sleep(ms(1))
  end)
  expect.at_least(load:result().completed - before, 10, "VM B goes on")
  load:stop()
end
