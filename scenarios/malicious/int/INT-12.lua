-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-12", name = "Vectors and reserved bits", tags = { "malicious", "interrupt" }, attacker = "guest-kernel",
  about = "Vectors that are none, an urgent bit that a guest has no say in; an entry with reserved bits.",
  vms = baseline(),
}

local TABLE = 0x2000 + 16               -- entry 1: of queue 1

variant("a", { about = "vector 0 to 15, and bits of the data that are not the vector" }, function(m)
  local A = m:vm("A")
  local entry = A:queue(1).qid + 0x10
  attack(A, function()
    for _, data in ipairs { 0, 15, 2 } do A:reg_write(TABLE + 8, data) end
    local before = A:interrupts()
    local io = A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0, prp1 = A:alloc(1) }
    expect.equal(io:wait(ms(1)), "timeout", "its completion, told by vector 2")
    A:reg_write(TABLE + 8, 0x41)                        -- it was kept pending, and not sent into nowhere
    expect.status(io:wait(ms(1)), "0/0x00")
    expect.equal(A:interrupts(), before + 1)
    A:reg_write(TABLE + 8, 0xFFFFC041)
    expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
    if m.policy ~= "mediated" then
      local lo = m:irte_read(entry)
      expect.equal(lo >> 14 & 1, 0, "urgent")
      expect.equal(lo >> 16 & 0xFF, 0x41, "vector")
    end
  end)
end)

variant("mutant", { about = "reserved bits in the entry", attacker = "host-bug" }, function(m)
  local A = m:vm("A")
  m:irte { index = A:queue(1).qid + 0x10, edit = true, lo = 1 << 12 }
  attack(A, function()
    A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0, prp1 = A:alloc(1) }:wait(ms(1))
  end)
end)
