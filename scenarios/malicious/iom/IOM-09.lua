-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "IOM-09", name = "Fault flood", tags = { "malicious", "iommu", "qos" }, attacker = "guest-kernel",
  about = "VM A reads to an address that nobody has, at full depth; all share the unit's few fault records.",
  -- A medium that is fast and wide, so that what VM B feels is the faults and not VM A's reads (QOS-02).
  machine = { iommu = { fault_interrupts = true }, ssd = { timing = { dies = 1024, read = us(5), fetch = ns(200) } } },
  vms = baseline(),
}

local NOWHERE = 0x7FFFFFFFF000

local function p99(m, B)
  local w = B:workload { queue = 1, depth = 1, blocks = 8, read_percent = 100, span = 0x10000, cpu = us(1) }
  m:sleep(ms(20))
  w:stop()
  return w:result().p99
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local alone = p99(m, B)
  local going = true
  attack(A, function()
    local loads = {}
    for i = 1, 32 do
      loads[i] = m:spawn(function()
        local slba = A.lba_base + 8 * i
        while going do
          A:raw { opcode = 0x02, slba = slba, nlb = 0, prp1 = NOWHERE }:wait()
          slba = slba + 256
        end
      end)
    end
    m:sleep(ms(1))
    local before, began = m:counters(), m:now()
    local beside = p99(m, B)
    local after, span = m:counters(), m:now() - began
    going = false
    for _, load in ipairs(loads) do load:join() end
    measure("host.fault_cpu", 100 * (after.faults_ps - before.faults_ps) / span)
    measure("b.p99_slowdown", beside / alone)
    measure("faults lost are counted (PFO)", after.faults_overflowed > before.faults_overflowed)
    if m.policy == "paper" or m.policy == "siov" then
      expect.at_least(after.vtd_faults - before.vtd_faults, 1000, "faults")
      degraded()
    end
  end)
end
