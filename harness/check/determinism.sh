#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Same seed, same result: to the byte, however many runs at once; and the same verdicts and
# digests when content is kept as bytes.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/determinism
mkdir -p "$out"

# replay NAME OPTION...: leaves NAME.json, and in NAME.runs what does not tell how it was run.
replay()
{
	name=$1
	shift
	"$B/lightiov" run --no-controls --seed 7 --json="$out/$name.json" --quiet "$@" scenarios > "$out/$name.log" 2>&1
	"$B/check/runs" < "$out/$name.json" | cut -f 1-9 > "$out/$name.runs"
	[ -s "$out/$name.runs" ] || fail "$name: no result" "$(tail -n 20 "$out/$name.log")"
}
replay once --jobs 1
replay again --jobs 2
replay bytes --jobs "$JOBS" --content=bytes

expect_same "the same document twice, one run and two runs at once" "$out/once.json" "$out/again.json"
expect_same "the same verdicts and digests with content as bytes" "$out/once.runs" "$out/bytes.runs"
# A digest of nothing would always be the same.
runs=$(wc -l < "$out/once.runs")
digests=$(cut -f 9 "$out/once.runs" | grep -cE '^[0-9a-f]{32}$')
different=$(cut -f 9 "$out/once.runs" | sort -u | wc -l)
if [ "$digests" -eq "$runs" ] && [ $((2 * different)) -gt "$runs" ]; then
	pass "digests tell runs apart"
else
	fail "$runs runs have $digests digests, $different different"
fi
ok
