-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LBA-09", name = "Other namespace chosen by NSID", tags = { "malicious", "lba", "namespace" }, attacker = "guest-kernel",
  about = "The controller has a second namespace, the host's own; VM A names it, by blocks of the numbers that it may use, and NSIDs that are none.",
  machine = { ssd = { namespaces = 64, private_namespace = 0x400000 } },   -- NSID 2
  vms = baseline(),
}

local function read(nsid)
  return function(m)
    local A = m:vm("A")
    local page = A:alloc(1)
    A:fill(page, 4096, 0xA00)
    attack(A, function() A:raw { opcode = 0x02, nsid = nsid, slba = A.lba_base, nlb = 7, prp1 = page }:wait() end)
    expect.equal(A:holds(page, 4096, 0xA00), m.policy ~= "paper" or nsid ~= 2, "nothing was read")
  end
end

variant("a", { about = "NSID 2, active and the host's" }, read(2))
variant("b", { about = "NSID 0" }, read(0))
-- Under siov NSIDs from 3 on are the VMs' own.
variant("c", { about = "NSID 3, inactive" }, function(m) read(m.policy == "siov" and 64 or 3)(m) end)
variant("d", { about = "NSID 0x101, above NN" }, read(0x101))
variant("e", { about = "NSID 0xFFFFFFFF, the broadcast value" }, read(0xFFFFFFFF))
