-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QD-01", name = "Ring a neighbour's doorbell", tags = { "malicious", "doorbell", "smoke" }, attacker = "guest-kernel",
  about = "VM A writes 5 to the SQ tail and the CQ head doorbell of hardware queue 2, which is VM B's.",
  vms = baseline(),
}

-- Where an attacker would look for queue 2's doorbells: in the page it has, at its own device, or at the SSD's own addresses.
local function doorbells(m, A)
  if m.policy == "paper" then
    local page = A:queue(1).sq_doorbell & ~0xFFF
    return page + 8 * 2, page + 8 * 2 + 4
  elseif m.policy == "mediated" then
    return A.bar0 + 0x1000 + 8 * 2, A.bar0 + 0x1000 + 8 * 2 + 4
  end
  local stride = 4 << m.dstrd
  return m.bar0 + 0x1000 + 4 * stride, m.bar0 + 0x1000 + 5 * stride
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  expect.equal(B:queue(1).qid, 2, "hardware queue 2 is VM B's")
  local tail, head = doorbells(m, A)
  local before = m:queue_fetched(2)
  attack(A, function()
    A:store32(tail, 5)
    A:store32(head, 5)
    m:sleep(ms(1))
  end)
  expect.equal(m:queue_fetched(2) > before, m.policy == "paper", "VM B's queue was served")
end
