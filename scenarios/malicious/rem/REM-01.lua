-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "REM-01", name = "LBA window reused without wipe", tags = { "malicious", "remanence" }, attacker = "host-bug",
  about = "VM B is deleted, its blocks are given to VM D, which reads what it never wrote.",
  vms = baseline(),
}

local function reuse(m)
  local B = m:vm("B")
  local start, count = B.lba_start, B.lba_count
  for _, slba in ipairs { 0, 0x4321, count - 8 } do
    expect.status(B:write { slba = slba, blocks = 8, tag = 0x5EC4E7 }, "0/0x00")
  end
  m:destroy(B)
  local D = m:create_vm { name = "D", queues = 2 }
  expect.equal(D.lba_start, start, "VM D has VM B's old blocks")
  local zero = true
  attack(D, function()
    for _, slba in ipairs { 0, 0x4321, count - 8 } do
      local status, gpa = D:read { slba = slba, blocks = 8 }
      expect.status(status, "0/0x00")
      zero = zero and D:holds(gpa, 4096, 0)
    end
  end)
  return zero
end

function run(m) expect.true_(reuse(m), "VM D reads zeros") end
