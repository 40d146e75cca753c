-- SPDX-License-Identifier: GPL-2.0
-- A guest kernel without a driver: an admin queue of its own, by the book (Base 3.5.1, 3.3).
local M = {}

M.CC_EN = 0x460001                      -- 64- and 16-byte entries

function M.enable(q)
  q.vm:reg_write(0x24, (q.entries - 1) << 16 | q.entries - 1)
  q.vm:reg_write(0x28, q.sq, 8)
  q.vm:reg_write(0x30, q.cq, 8)
  q.vm:reg_write(0x14, M.CC_EN)
end

-- The VM's driver was never started. At most 64 entries: one page.
function M.open(vm, entries)
  local q = { vm = vm, entries = entries or 32, sq = vm:alloc(1), cq = vm:alloc(1), tail = 0, head = 0, phase = 1 }
  M.enable(q)
  expect.equal(vm:reg_read(0x1C) & 3, 1, "CSTS: ready")
  return q
end

-- Into the ring; the controller is told by M.ring().
function M.put(q, c)
  local at = q.sq + 64 * q.tail
  q.vm:store32(at, c.opcode | (c.flags or 0) << 8 | (c.cid or q.tail) << 16)
  q.vm:store32(at + 4, c.nsid or 0)
  q.vm:store64(at + 24, c.prp1 or 0)
  q.vm:store64(at + 32, c.prp2 or 0)
  for i = 10, 15 do q.vm:store32(at + 4 * i, c["cdw" .. i] or 0) end
  q.tail = (q.tail + 1) % q.entries
end

function M.ring(q) q.vm:reg_write(0x1000, q.tail) end

-- What has completed: a list of { cid, status, dw0 }.
function M.reap(q)
  local done = {}
  while q.vm:load32(q.cq + 16 * q.head + 12) >> 16 & 1 == q.phase do
    local at = q.cq + 16 * q.head
    local dw3 = q.vm:load32(at + 12)
    local sf = dw3 >> 17
    done[#done + 1] = { cid = dw3 & 0xFFFF, status = string.format("%d/0x%02X", sf >> 8 & 7, sf & 0xFF), dw0 = q.vm:load32(at) }
    q.head = (q.head + 1) % q.entries
    if q.head == 0 then q.phase = 1 - q.phase end
  end
  if #done > 0 then q.vm:reg_write(0x1004, q.head) end
  return done
end

-- One command that completes at once: status, DW0.
function M.command(q, c)
  M.put(q, c)
  M.ring(q)
  local done = M.reap(q)
  expect.equal(#done, 1, "completions")
  return done[1] and done[1].status, done[1] and done[1].dw0
end

return M
