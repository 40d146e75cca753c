-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LIF-08", name = "Memory unplugged under outstanding reads", tags = { "malicious", "lifetime", "iommu" }, attacker = "host-bug",
  about = "16 reads of 128 KiB are on their way into 128 MiB that the host unplugs from VM A and gives to VM B.",
  vms = baseline(),
}

local LEN = 128 << 20

local function unplug(m)
  local A, B = m:vm("A"), m:vm("B")
  local at, page = A.memory + LEN, B.memory + B.memory_len
  for i = 0, 15 do expect.status(A:write { slba = 256 * i, blocks = 256, tag = 0xA00000 + 256 * i }, "0/0x00") end
  local ios = {}
  attack(A, function()
    for i = 0, 15 do ios[i + 1] = A:raw { opcode = 0x02, slba = A.lba_base + 256 * i, nlb = 255, data = at + (i << 20) } end
    m:sleep(us(200))                          -- a few are done
  end)
  m:balloon(A, at, LEN)
  m:plug(B, page, LEN)
  for i = 0, 15 do B:fill(page + (i << 20), 131072, 0xB00) end
  attack(A, function()
    for _, io in ipairs(ios) do io:wait(ms(50)) end
  end)
  local same = true
  for i = 0, 15 do same = same and B:holds(page + (i << 20), 131072, 0xB00) end
  return same
end

function run(m)
  expect.true_(unplug(m), "VM B's new memory is unchanged")
end

variant("mutant", { about = "the host leaves the unmapping out" }, function(m)
  m:plant("iommu_unmap")
  expect.equal(unplug(m), m.policy == "mediated", "VM B's new memory is unchanged")
end)
