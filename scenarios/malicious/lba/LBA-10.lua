-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-10", name = "Reservation of the shared namespace", tags = { "malicious", "lba", "reservation" }, attacker = "guest-kernel",
  about = "VM A registers a key with NSID 1 and takes a Write Exclusive reservation, of a namespace that is everybody's.",
  vms = baseline(),
}

local KEY = 0xA77ACC
local WRITE_EXCLUSIVE = 1 << 8

local function reserve(m)
  local A, B = m:vm("A"), m:vm("B")
  local keys = A:alloc(1)
  A:store64(keys, KEY)                      -- the current key, for Acquire
  A:store64(keys + 8, KEY)                  -- the new one, for Register
  local held
  attack(A, function()
    held = A:raw { opcode = 0x0D, cdw10 = 0, cdw12 = 0, prp1 = keys }:wait() == "0/0x00" and
           A:raw { opcode = 0x11, cdw10 = WRITE_EXCLUSIVE, cdw12 = 0, prp1 = keys }:wait() == "0/0x00"
  end)
  -- One controller has one Host Identifier: VM B is the same registrant, so it is not locked out.
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB00 }, "0/0x00")
  return held
end

variant("a", { about = "a controller with reservations", machine = { ssd = { oncs = 0x02D } } }, function(m)
  -- Under siov NSID 1 is the VM's own: it reserves that, and nobody minds.
  expect.equal(reserve(m), m.policy == "paper" or m.policy == "siov", "VM A holds the namespace")
end)

variant("b", { about = "a controller without" }, function(m)
  expect.false_(reserve(m), "VM A holds the namespace")
end)
