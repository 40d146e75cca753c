#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Same seed, same result, to the byte: what the step scenarios got, again with another number of runs
# at once, and with content kept as bytes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/determinism
mkdir -p "$out"
all_runs

"$B/lightiov" run --noninterference --jobs $((JOBS + 1)) --content=bytes --json="$out/again.json" --quiet scenarios > "$out/log" 2>&1
"$B/check/runs" < "$out/again.json" > "$out/runs" || fail "no result" "$(tail -n 20 "$out/log")"
# Of how it was run the document says no more than the commands that repeat a run.
sed 's/ --content=bytes//' "$out/again.json" > "$out/same.json"
if cmp -s "$out/again.json" "$out/same.json"; then fail "content was not kept as bytes"; else pass "content is kept as bytes"; fi
if cmp -s "$OUT/scenarios/run.json" "$out/same.json"; then
	pass "the same document twice"
else
	fail "the same document twice" "$(diff "$OUT/scenarios/runs" "$out/runs" | head -n 20)"
fi

# A digest of nothing would always be the same.
runs=$(wc -l < "$out/runs")
digests=$(cut -f 9 "$out/runs" | grep -cE '^[0-9a-f]{32}$')
different=$(cut -f 9 "$out/runs" | sort -u | wc -l)
if [ "$digests" -eq "$runs" ] && [ $((2 * different)) -gt "$runs" ]; then
	pass "digests tell runs apart"
else
	fail "$runs runs have $digests digests, $different different"
fi
ok
