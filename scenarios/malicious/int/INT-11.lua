-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "INT-11", name = "MSI-X table written by the guest", tags = { "malicious", "interrupt" }, attacker = "guest-kernel",
  about = "VM B's message into VM A's table, a high address, pending bits, entries past the end, masks in a loop.",
  vms = baseline(),
}

local TABLE, PBA = 0x2000, 0x3000

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local before, physical = B:interrupts(), {}
  for v = 0, 6 do physical[v] = { m:msix(v) } end
  expect.equal(A:reg_read(TABLE + 2 * 16 + 8), 0x42, "the driver's own vector of queue 2")
  local function entry(v, addr, high, data)
    A:reg_write(TABLE + 16 * v, addr)
    A:reg_write(TABLE + 16 * v + 4, high)
    A:reg_write(TABLE + 16 * v + 8, data)
    A:reg_write(TABLE + 16 * v + 12, 0)
  end
  attack(A, function()
    for _, e in ipairs { { 0xFEE00250, 0, 2 }, { 0xFEE00000, 1, 0x42 }, { 0x100000000, 0, 0x42 }, { 0xFEE00000, 0, 0x0F } } do
      entry(2, e[1], e[2], e[3])
      expect.status(A:read { slba = 0, blocks = 8, queue = 1 }, "0/0x00")
      A:raw { queue = 2, opcode = 0x02, slba = A.lba_base, nlb = 0, prp1 = A:alloc(1) }:wait(ms(1))
    end
    entry(65, 0xFEE00250, 0, 2)
    for _ = 1, 50 do
      A:reg_write(TABLE + 2 * 16 + 12, 1)
      A:reg_write(TABLE + 2 * 16 + 12, 0)
    end
    local pending = A:reg_read(PBA)
    A:reg_write(PBA, ~pending & 0xFFFFFFFF)
    expect.equal(A:reg_read(PBA), pending, "pending bits are the device's")
  end)
  for v = 0, 6 do
    local addr, data = m:msix(v)
    expect.equal(addr, physical[v][1], "the SSD's own table")
    expect.equal(data, physical[v][2], "the SSD's own table")
  end
  expect.equal(B:interrupts(), before, "interrupts of VM B's")
end
