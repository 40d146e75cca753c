-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QD-06", name = "Doorbell of a queue that is not there", tags = { "malicious", "doorbell" }, attacker = "guest-kernel",
  about = "Doorbells of queue 63, which nobody has created, of one past the SSD's 64 queues, and of any before the controller is ready.",
  vms = baseline(),
}

-- An attacker's way to doorbell @offset: the page that it shares under paper, its device's registers else.
local function doorbell(m, A, offset)
  if m.policy == "paper" then return (A:queue(1).sq_doorbell & ~0xFFF) + offset end
  return A.bar0 + 0x1000 + offset
end

local function ring(offsets)
  return function(m)
    local A = m:vm("A")
    attack(A, function()
      for _, offset in ipairs(offsets) do A:store32(doorbell(m, A, offset), 1) end
      m:sleep(ms(1))
    end)
    expect.equal(m:queue_fetched(63), 0, "nothing was fetched")
    expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
  end
end

variant("a", { about = "SQ and CQ of queue 63" }, ring { 0x1F8, 0x1FC })
variant("b", { about = "past the last doorbell" }, ring { 0x208 })

variant("c", { about = "before CSTS.RDY", vms = baseline { A = { start = false } } }, function(m)
  local A = m:vm("A")
  attack(A, function()
    for _, at in ipairs { A.bar0 + 0x1008, A.cmb + 0x1008, A.cmb + 0x10000 + 0x18000 } do A:store32(at, 1) end
    m:sleep(ms(1))
  end)
  expect.status(A:start(), "0/0x00")
  expect.status(A:read { slba = 0, blocks = 8 }, "0/0x00")
end)
