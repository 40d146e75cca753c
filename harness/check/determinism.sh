#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Same seed, same result, to the byte: what the step scenarios got, again with another number of runs
# at once, and with content kept as bytes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/determinism
mkdir -p "$out"
all_runs

"$B/lightiov" run --jobs $((JOBS + 1)) --content=bytes --json="$out/bytes.json" --quiet scenarios > "$out/log" 2>&1
"$B/check/runs" < "$out/bytes.json" > "$out/runs" || fail "no result" "$(tail -n 20 "$out/log")"
if grep -q ' --content=bytes' "$out/bytes.json"; then pass "content is kept as bytes"; else fail "content was not kept as bytes"; fi
# same WHAT DOCUMENT DOCUMENT: but for the commands that repeat a run, which is all that they say of how it was run.
same()
{
	sed 's/ --content=[a-z]*//; s/ --noninterference//' "$2" > "$out/first"
	sed 's/ --content=[a-z]*//; s/ --noninterference//' "$3" > "$out/second"
	expect_same "$1" "$out/first" "$out/second"
}
# What is not asked the second time is left out.
for document in "$OUT/scenarios/run.json" "$out/bytes.json"; do
	sed '/^      "noninterference": null,/d; /^      "noninterference": {/,/^      }/d' "$document" > "$out/without-$(basename "$document")"
done
same "the same document twice" "$out/without-run.json" "$out/without-bytes.json"

# And what noninterference sees, of a class.
for content in tags bytes; do
	"$B/lightiov" run --noninterference --jobs "$JOBS" --content=$content --json="$out/views-$content.json" --quiet scenarios/malicious/rem > "$out/log" 2>&1
done
same "the same views twice" "$out/views-tags.json" "$out/views-bytes.json"

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
