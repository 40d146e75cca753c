-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-03", name = "Identify leaks host or neighbour identity", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "What Identify tells a VM is built for it: size of its window, a serial of its own, nothing of the SSD's.",
  vms = baseline(),
}

local function identify(vm, cns, nsid, page)
  return vm:admin { opcode = 0x06, nsid = nsid, cdw10 = cns, prp1 = page }
end

variant("a", { about = "identity, size and capabilities" }, function(m)
  local A, B = m:vm("A"), m:vm("B")
  local page, other = A:alloc(1), B:alloc(1)
  local before = m:counters().admin_commands
  attack(A, function()
    expect.status(identify(A, 0x01, 0, page), "0/0x00")
    local serial = A:bytes(page + 4, 20)
    expect.equal(A:load16(page + 256), 0, "OACS: no format, no firmware, no namespace management")
    expect.equal(A:load32(page + 516), 1, "NN: one namespace")
    expect.equal(A:load32(page + 536), 0, "SGLS: none")
    expect.different(serial, "LIOV0001            ", "not the SSD's serial")
    identify(B, 0x01, 0, other)
    expect.different(serial, B:bytes(other + 4, 20), "not a neighbour's serial")
    expect.status(identify(A, 0x00, 1, page), "0/0x00")
    expect.equal(A:load64(page), A.lba_count, "NSZE is the window's size")
    expect.status(identify(A, 0x02, 0, page), "0/0x00")
    expect.equal(A:load64(page), 1, "the one active namespace, and no more")
  end)
  expect.equal(m:counters().admin_commands, before, "nothing was forwarded")
end)

variant("b", { about = "unknown CNS" }, function(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  attack(A, function()
    for _, cns in ipairs { 0x12, 0x13, 0xFF } do identify(A, cns | 0xFFFF << 16, 0, page) end
  end)
end)
