-- SPDX-License-Identifier: GPL-2.0
-- Reads of VM A's whose data reach the interrupt range as single dword writes.
local M = {}

-- Block 0 of the VM holds @dword and zeros; returns two pages to work in.
function M.block(vm, dword)
  local page = vm:alloc(2)
  vm:store32(page, dword)
  expect.status(vm:raw { opcode = 0x01, slba = vm.lba_base, nlb = 7, prp1 = page }:wait(), "0/0x00")
  return page
end

-- By PRP: a first fragment of four bytes can lie at the end of a page only.
function M.by_prp(vm, page)
  return vm:raw { opcode = 0x02, slba = vm.lba_base, nlb = 7, prp1 = 0xFEE00FFC, prp2 = page + 4096 }:wait()
end

-- By SGL: a list of two data blocks, four bytes at @addr and what is left of the sector in the VM's page.
function M.by_sgl(vm, page, addr)
  vm:store64(page, addr)
  vm:store64(page + 8, 4)
  vm:store64(page + 16, page + 4096)
  vm:store64(page + 24, 508)
  return vm:raw { opcode = 0x02, flags = 0x40, slba = vm.lba_base, nlb = 0, prp1 = page, prp2 = 32 | 0x30 << 56 }:wait()
end

return M
