-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-04", name = "Log page offset past the end", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "Get Log Page from an offset at, past and far past the log's size, and from one that is no dword's.",
  vms = baseline(),
}

local function get_log(A, page, lid, offset)
  return A:admin { opcode = 0x02, cdw10 = lid | 0x3FF << 16, cdw12 = offset & 0xFFFFFFFF, cdw13 = offset >> 32, prp1 = page }
end

-- Nothing came that was there before in another's memory: the page is as it was.
local function unanswered(A, lid, offset, status)
  local page = A:alloc(1)
  A:fill(page, 4096, 0xA11)
  expect.status(get_log(A, page, lid, offset), status)
  expect.holds(A, page, 4096, 0xA11)
end

variant("a", { about = "LID 0x04, of 4096 bytes" }, function(m)
  local A = m:vm("A")
  expect.status(get_log(A, A:alloc(1), 0x04, 0xFFC), "0/0x00")
  attack(A, function()
    for _, offset in ipairs { 0x1000, 0x1004, 0xFFFFFFFC, 0xFFFFFFFFFFFFFFFC, 2 } do unanswered(A, 0x04, offset, "0/0x02") end
  end)
end)

variant("b", { about = "LID 0x23, not offered, at offsets in and past what it would have" }, function(m)
  local A = m:vm("A")
  attack(A, function()
    for _, offset in ipairs { 0, 0x1000, 0xFFFFFFFC } do unanswered(A, 0x23, offset, "1/0x09") end
  end)
end)
