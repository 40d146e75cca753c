-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "QOS-06", name = "Contention side channel", tags = { "malicious", "qos", "side-channel" }, attacker = "guest-user",
  about = "VM B writes, or does not, for a millisecond each; VM A reads a block every 50 us and tells from the latency which it was.",
  vms = baseline { A = { vcpus = 2 } },
}

local BIT, PROBE = ms(1), us(50)
local secret = { 1, 0, 1, 0, 1, 0, 1, 0 }      -- known: they tell what slow is
for i = 9, 72 do secret[i] = (i * i // 3 + i // 5) % 2 end

-- VM B: 16 writes of 128 KiB in flight while the bit is 1.
local function send(m, B, data, state)
  local slba, k = B.lba_base, 0
  for _ = 1, 16 do
    m:spawn(function()
      while not state.over do
        if secret[state.bit] == 1 then
          k = k + 1
          B:raw { opcode = 0x01, slba = slba + 256 * (k % 64), nlb = 255, data = data }:wait()
        else
          m:sleep(us(20))
        end
      end
    end)
  end
end

-- VM A: mean latency of each bit's probes.
local function probe(m, A, page, state)
  local mean = {}
  for bit = 1, #secret do
    state.bit = bit
    local ios = {}
    for i = 1, BIT // PROBE do
      ios[i] = A:raw { opcode = 0x02, slba = A.lba_base + 8 * rng.below(0x10000), nlb = 7, prp1 = page }
      m:sleep(PROBE)
    end
    local sum = 0
    for i = 1, #ios do
      ios[i]:wait()
      sum = sum + ios[i]:latency()
    end
    mean[bit] = sum / #ios
  end
  state.over = true
  return mean
end

local function log2(x)
  local n, step = 0.0, 1.0
  while x < 1 do x, n = x * 2, n - 1 end
  for _ = 1, 40 do
    x, step = x * x, step / 2
    if x >= 2 then x, n = x / 2, n + step end
  end
  return n
end

-- Bits a second through a channel that flips one in 1/p.
local function capacity(wrong, bits)
  local p = wrong / bits
  local h = (p == 0 or p == 1) and 0 or -(p * log2(p) + (1 - p) * log2(1 - p))
  return (1 - h) * (s(1) // BIT)
end

local function transmit(m, A, B, page, data)
  local state = { bit = 0 }
  send(m, B, data, state)
  local mean = probe(m, A, page, state)
  m:sleep(ms(2))
  local one, zero, wrong = 0, 0, 0
  for i = 1, 8, 2 do one, zero = one + mean[i] / 4, zero + mean[i + 1] / 4 end
  for i = 9, #secret do
    local seen = mean[i] > (one + zero) / 2 and 1 or 0
    if seen ~= secret[i] then wrong = wrong + 1 end
  end
  return capacity(wrong, #secret - 8)
end

function run(m)
  local A, B = m:vm("A"), m:vm("B")
  local page, data = A:alloc(1), B:alloc(32)
  attack(A, function()
    local bits = transmit(m, A, B, page, data)
    measure("channel.bits_per_s", bits)
    measure("same seed, same number", transmit(m, A, B, page, data) == bits)
    if bits > 0 then degraded() end
  end)
end
