-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "GPA-03", name = "Forge admin commands in the shared domain", tags = { "malicious", "gpa", "admin" }, attacker = "guest-kernel",
  about = "A sector that holds a Format NVM command is read into the physical Admin SQ's slot at its tail; then the admin doorbell is rung.",
  vms = baseline(),
}

-- Eight SQEs in a sector: Format NVM, all namespaces, LBA format 0.
local function plant_commands(A)
  local page = A:alloc(1)
  for slot = 0, 7 do
    A:store32(page + 64 * slot, 0x80 | 0x7000 << 16)
    A:store32(page + 64 * slot + 4, 0xFFFFFFFF)
  end
  expect.status(A:raw { opcode = 0x01, slba = A.lba_base, nlb = 0, prp1 = page }:wait(),
                "0/0x00")
end

local function forge(m, A)
  return A:raw { opcode = 0x02, slba = A.lba_base, nlb = 0, prp1 = m.asq_iova + 64 * m.admin_tail }:wait()
end

-- The admin SQ's doorbell where an attacker would look for it: in the page it has, at its device, or at the SSD's own address.
local function admin_doorbell(m, A)
  if m.policy == "paper" then return A:queue(1).sq_doorbell & ~0xFFF end
  return (m.policy == "mediated" and A.bar0 or m.bar0) + 0x1000
end

variant("a", { about = "step 2: the command lands in the Admin SQ" }, function(m)
  local A = m:vm("A")
  plant_commands(A)
  attack(A, function() forge(m, A) end)
end)

variant("b", { about = "step 3: the admin doorbell is rung" }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB10C }, "0/0x00")
  plant_commands(A)
  local tail = m.admin_tail
  forge(m, A)
  attack(A, function()
    A:store32(admin_doorbell(m, A), tail + 1)
    m:sleep(ms(20))
  end)
  expect.equal(m:media_holds(B.lba_start, 8, 0xB10C), m.policy ~= "paper", "VM B's blocks survived")
end)
