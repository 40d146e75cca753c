-- SPDX-License-Identifier: GPL-2.0
-- A queue pair that is the scenario's own, not the driver's: made by admin commands, without interrupts, its
-- entries and doorbells in the attacker's hand. The VM leaves it free: baseline { A = { start_queues = 1 } }.
local M = {}

M.FLUSH = { opcode = 0x00 }

-- Where the doorbells of pair @i are: in the CMB as the info page says, or in BAR 0; and its number in completions.
local function doorbells(vm, i)
  local info = vm.cmb + 64 + 32 * (i - 1)
  if vm:load32(vm.cmb + 8) & 1 == 0 then
    return vm.bar0 + 0x1000 + 8 * i, vm.bar0 + 0x1004 + 8 * i, i
  end
  return vm.cmb + vm:load32(info + 8), vm.cmb + vm:load32(info + 12), vm:queue(i).qid
end

-- Status of Create CQ, and of Create SQ, as pair @i has them but for what @change says.
function M.create_cq(vm, i, entries, change)
  local c = { opcode = 0x05, cdw10 = i | (entries - 1) << 16, cdw11 = 1, prp1 = vm:queue(i).cq_gpa }
  for k, v in pairs(change or {}) do c[k] = v end
  return (vm:admin(c))
end

function M.create_sq(vm, i, entries, change)
  local c = { opcode = 0x01, cdw10 = i | (entries - 1) << 16, cdw11 = 1 | i << 16, prp1 = vm:queue(i).sq_gpa }
  for k, v in pairs(change or {}) do c[k] = v end
  return (vm:admin(c))
end

-- SQ @i with @entries, its completions go to CQ @cqid. sqid: what completions call it, the guest's number or the SSD's.
function M.make_sq(vm, i, entries, cqid)
  local q = vm:queue(i)
  expect.status(M.create_sq(vm, i, entries, { cdw11 = 1 | cqid << 16 }), "0/0x00")
  q.vm, q.sq_entries = vm, entries
  q.sq_doorbell, q.cq_doorbell, q.sqid = doorbells(vm, i)
  return q
end

-- Pair @i with @sq and @cq entries.
function M.make(vm, i, sq, cq)
  expect.status(M.create_cq(vm, i, cq), "0/0x00")
  local q = M.make_sq(vm, i, sq, i)
  q.cq_entries = cq
  return q
end

-- Put @command (opcode, cid, nsid, slba, nlb, prp1, prp2) into slot @slot of the SQ.
function M.put(q, slot, command)
  local at = q.sq_gpa + 64 * slot
  q.vm:store64(at, command.opcode | (command.cid or slot) << 16 | (command.nsid or q.vm.nsid) << 32)
  q.vm:store64(at + 24, command.prp1 or 0)
  if command.prp2 then q.vm:store64(at + 32, command.prp2) end
  q.vm:store64(at + 40, command.slba or 0)
  q.vm:store64(at + 48, command.nlb or 0)
end

-- Entry @slot of the CQ: cid, sqid, phase and status.
function M.cqe(q, slot)
  local low = q.vm:load64(q.cq_gpa + 16 * slot + 8)
  local status = low >> 49
  return { sqid = low >> 16 & 0xFFFF, cid = low >> 32 & 0xFFFF, phase = low >> 48 & 1,
           status = ("%d/0x%02X"):format(status >> 8 & 7, status & 0xFF) }
end

-- How many entries from slot 0 on have phase 1: completions, while the CQ has not gone round.
function M.completions(q)
  local n = 0
  while n < q.cq_entries and M.cqe(q, n).phase == 1 do n = n + 1 end
  return n
end

function M.ring_sq(q, tail) q.vm:store32(q.sq_doorbell, tail) end
function M.ring_cq(q, head) q.vm:store32(q.cq_doorbell, head) end

return M
