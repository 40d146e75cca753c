-- SPDX-License-Identifier: GPL-2.0
scenario {
  id = "LIF-10", name = "A VM that comes up half way", tags = { "malicious", "lifetime" }, attacker = "host-bug",
  about = "VM D is to have two queues, and for the last of its hardware's there is no vector: nothing of D stays, and made again it has its place.",
  vms = baseline(),
}

-- VM D, by an operator's table: which blocks, and which hardware queues.
local function create(m, place) return m:create_vm { name = "D", queues = 2, lbas = 0x1000, lba_start = place.lba, qid = place.qid, start = false } end

-- Where there is room for it; IOMMU tables on the way there exist from here on.
local function room(m)
  local D = create(m, {})
  local place = { lba = D.lba_start, qid = D:queue(1).qid }
  D:kill()
  return place
end

local function taken(m)
  local c = m:counters()
  return c.queues_taken + c.vectors_taken + c.pages_mapped - c.pages_free
end

-- The creation that fails, and one more. What stayed in between; the VM, or why there is none.
local function twice(m, place)
  local before = taken(m)
  m:fault { kind = "no_memory", what = "vector", after = m.policy == "mediated" and 0 or 1 }
  local D, why = create(m, place)
  expect.equal(D, nil)
  expect.equal(why, "ENOMEM")
  local left = taken(m) - before
  measure("leaked qid, irte, iova, ept entries", left)
  return left, create(m, place)
end

function run(m)
  local place = room(m)
  local left, D
  configure { legal = true, function() left, D = twice(m, place) end }
  expect.equal(left, 0, "all was taken back")
  expect.different(D, nil, "the retry")
  if not D then return end
  expect.equal(D:start(), "0/0x00")
  expect.status(D:write { slba = 0, blocks = 8, tag = 0xD00 }, "0/0x00")
  expect.true_(m:media_holds(place.lba, 8, 0xD00), "the retry has the place")
end

variant("mutant", { about = "what was made before the failure stays" }, function(m)
  local place = room(m)
  m:plant("backend_vm_undo", "backend_queue_unmap")
  local _, D, why = twice(m, place)
  expect.equal(D, nil)
  expect.equal(why, "EBUSY", "what is left is in the way")
  degraded()
end)
