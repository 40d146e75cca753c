-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-05", name = "Limits of the invalidation queue", tags = { "malicious", "iommu", "lifetime" }, attacker = "host-bug",
  about = "A tail past the end, waits whose status goes nowhere, a wait for both kinds of answer, a queue gone all the way round.",
  vms = baseline(),
}

local release = include "release"

local WAIT, INTERRUPT, STATUS, FENCE = 5, 1 << 4, 1 << 5, 1 << 6

function run(m)
  local A = m:vm("A")
  attack(A, function()
    expect.true_(m:iommu_tail(300 * 16), "256 entries: the queue stopped")
    expect.true_(m:iommu_descriptor(WAIT | STATUS, 0x1001), "a status address that is no dword's")
    expect.false_(m:iommu_descriptor(WAIT | STATUS | 7 << 32, 0xBFFFF000), "one that is no memory: the write is lost")
    expect.false_(m:iommu_descriptor(WAIT | STATUS | INTERRUPT | FENCE, 0xBFFFF000), "both answers asked for")
    for _ = 1, 256 do expect.false_(m:iommu_descriptor(WAIT | FENCE, 0)) end
    expect.status(release.command(A, 0x02), "0/0x00")            -- and LightIOV's own still work
    expect.status(A:unregister_memory(release.PAGE, 4096), "0/0x00")
  end)
end

variant("mutant", { about = "the host goes on before a slow unit has answered", machine = { iommu = { invalidation = ms(2) } } }, function(m)
  m:plant("iommu_wait")
  expect.equal(release.and_use(m, 0x02), m.policy == "mediated", "VM B's new page is unchanged")
end)
