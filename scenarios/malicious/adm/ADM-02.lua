-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "ADM-02", name = "Commands that only the host may give", tags = { "malicious", "admin" }, attacker = "guest-kernel",
  about = "Firmware, sanitize, namespace management and attachment, security, virtualization management, vendor commands.",
  vms = baseline(),
}

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local page = A:alloc(1)
  expect.status(B:write { slba = 0, blocks = 8, tag = 0xB10C }, "0/0x00")
  local before = m:counters().admin_commands
  attack(A, function()
    for _, opcode in ipairs { 0x10, 0x11, 0x84, 0x0D, 0x15, 0x81, 0x82, 0x1C, 0x7C, 0x80 } do
      expect.status(A:admin { opcode = opcode, nsid = 1, prp1 = page, cdw10 = 2 }, "0/0x01")
    end
    for opcode = 0xC0, 0xFF do             -- but for LightIOV's own two, which register memory
      if opcode ~= 0xC8 and opcode ~= 0xC9 then
        expect.status(A:admin { opcode = opcode, prp1 = page, cdw10 = 2 }, "0/0x01")
      end
    end
  end)
  expect.equal(m:counters().admin_commands, before, "nothing was forwarded")
  expect.true_(m:media_holds(B.lba_start, 8, 0xB10C), "VM B's blocks are unchanged")
end
