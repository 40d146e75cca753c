-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "CMB-02", name = "CMB slot with no queue behind it", tags = { "malicious", "cmb" }, attacker = "guest-kernel",
  about = "VM A has two queues and touches the slots where a third, and a sixth, would be.",
  vms = baseline(),
}

function run(m)
  local A = m:vm("A")
  local stride = A:queue(2).slot - A:queue(1).slot
  attack(A, function()
    for _, slot in ipairs { 3, 6 } do
      local at = A:queue(1).slot + (slot - 1) * stride
      expect.equal(A:load32(at), 0xFFFFFFFF, "nothing is there to read")
      A:store32(at, 0x02)
      expect.equal(A:load32(at), 0xFFFFFFFF, "the store went nowhere")
    end
  end)
end
