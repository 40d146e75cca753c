-- SPDX-License-Identifier: GPL-2.0
-- VM A gives a page back, the host hands it to VM B, VM A goes on naming it in commands.
local M = {}

M.PAGE = 0x200050000

-- A command that names the page: 0x02 has it written, 0x01 has it read.
function M.command(A, opcode)
  return A:raw { opcode = opcode, slba = A.lba_base, nlb = 7, prp1 = M.PAGE }:wait()
end

-- Used, so that its translation is cached, then taken from VM A and given to VM B, which fills it. Returns where VM B has it.
function M.hand_over(m, A, B)
  A:raw { opcode = 0x08, slba = A.lba_base, nlb = 7 }:wait()
  expect.status(M.command(A, 0x02), "0/0x00")
  expect.status(A:unregister_memory(M.PAGE, 4096), "0/0x00")
  m:balloon(A, M.PAGE, 4096)
  local page = B.memory + B.memory_len
  m:plug(B, page, 4096)
  B:fill(page, 4096, 0xB00)
  return page
end

-- All of it. Did VM B's page stay as it was?
function M.and_use(m, opcode)
  local A, B = m:vm("A"), m:vm("B")
  local page = M.hand_over(m, A, B)
  attack(A, function() M.command(A, opcode) end)
  return B:holds(page, 4096, 0xB00)
end

return M
