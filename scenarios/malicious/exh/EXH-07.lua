-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "EXH-07", name = "Pinned memory and number of mappings", tags = { "malicious", "exhaustion", "iommu" }, attacker = "guest-kernel",
  about = "VM A registers memory for DMA page by page, every other one, so that each is a mapping of its own, as often as it is let.",
  vms = baseline(),
}

function run(m)
  local A, B, given = m:vm("A"), m:vm("B"), 0
  expect.status(A:unregister_memory(A.memory, A.memory_len), "0/0x00")
  attack(A, function()
    for i = 0, 999 do
      local at = A.memory + (i << 13)
      local status = A:admin { opcode = 0xC8, cdw10 = at & 0xFFFFFFFF, cdw11 = at >> 32, cdw12 = 0x1000 }
      if status ~= "0/0x00" then break end
      given = given + 1
    end
  end)
  expect.at_most(given, 32, "mappings given")
  expect.at_least(given, 16, "mappings given")
  expect.status(B:write { slba = 0, blocks = 8, tag = 1 }, "0/0x00")
end
