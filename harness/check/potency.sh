#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every "contained by X" of the attacks has a control: without X there is harm, or the table says why none can
# be made. Then what the table says is changed: that must be noticed.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/potency
mkdir -p "$out"

"$B/lightiov" run --why --jobs "$JOBS" --quiet --json="$out/run.json" scenarios/malicious > "$out/log" 2>&1
status=$?
"$B/check/runs" < "$out/run.json" > "$out/runs" || { fail "no result" "$(tail -n 20 "$out/log")"; ok; }
awk -F '\t' '{ print ($1 == "ok" ? "pass" : "fail"), "potency", $2, $3, $4 ($1 == "ok" ? "" : ": " $5) }' "$out/runs" > "$out/results"
cat "$out/results" >> "$results"
[ "$status" -eq 0 ] || fail "lightiov run --why ends with status $status" "$(grep -A 1 '^FAIL' "$out/log" | head -n 60)"

# planted WHAT SED CASE VERDICT: with the table changed so, each run of the case under mediated fails with this verdict.
planted()
{
	sed "$2" scenarios/expected.tsv > "$out/planted.tsv"
	"$B/lightiov" run --why --quiet --policy mediated --expected "$out/planted.tsv" --json="$out/planted.json" "scenarios/malicious/$3.lua" > "$out/planted.log" 2>&1
	seen=$("$B/check/runs" < "$out/planted.json" | cut -f 1,5 | sort -u | tr '\t' ' ')
	if [ "$seen" = "$4" ]; then pass "$1"; else fail "$1: $seen, not $4" "$(tail -n 20 "$out/planted.log")"; fi
}

planted "a verdict without a control, of which the table does not say so" 's/ \[no control\]$//' ept/EPT-02 "FAIL INERT"
planted "a control that the table says there is none of" 's/^LBA-01\t-.*\tmediated\t.*/& [no control]/' lba/LBA-01 "FAIL contained"
ok
