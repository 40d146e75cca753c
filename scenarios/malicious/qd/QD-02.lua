-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QD-02", name = "Ring the admin doorbell from a guest", tags = { "malicious", "doorbell", "admin" }, attacker = "guest-kernel",
  about = "VM A writes the SQ tail and the CQ head doorbell of the admin queue.",
  vms = baseline(),
}

local function doorbells(m, A)
  if m.policy == "paper" then
    local page = A:queue(1).sq_doorbell & ~0xFFF
    return page, page + 4
  elseif m.policy == "mediated" then
    return A.bar0 + 0x1000, A.bar0 + 0x1004
  end
  return m.bar0 + 0x1000, m.bar0 + 0x1000 + (4 << m.dstrd)
end

function run(m)
  local A = m:vm("A")
  local tail, head = doorbells(m, A)
  local before = m:counters().admin_commands
  attack(A, function()
    A:store32(tail, m.admin_tail + 1)
    A:store32(head, 1)
    m:sleep(ms(20))
  end)
  if m.policy ~= "paper" then
    expect.equal(m:counters().admin_commands, before, "no admin command reached the SSD")
  end
end
