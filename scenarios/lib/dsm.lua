-- SPDX-License-Identifier: GPL-2.0
-- A page with ranges of a Dataset Management command: @nr of 8 blocks each, one behind the other, from @slba.
local M = {}

function M.page(vm, nr, slba)
  local page = vm:alloc(1)
  for i = 0, nr - 1 do
    vm:store32(page + 16 * i + 4, 8)
    vm:store64(page + 16 * i + 8, slba + 8 * i)
  end
  return page
end

function M.deallocate(vm, page, nr, queue)
  return vm:raw { queue = queue or 1, opcode = 0x09, prp1 = page, cdw10 = nr - 1, cdw11 = 4 }
end

return M
