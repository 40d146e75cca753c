#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every scenario under each of its policies, against scenarios/expected.tsv. In this tree a
# scenario without an expectation is not done yet, and an expectation must have its scenario
# unless the table's owner says otherwise.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/scenarios
mkdir -p "$out"
"$B/lightiov" run --jobs "$JOBS" --quiet --json="$out/run.json" --junit "$out/junit.xml" scenarios > "$out/log" 2>&1
status=$?
[ "$status" -eq 0 ] || cat "$out/log"
"$B/check/runs" < "$out/run.json" > "$out/runs" || { fail "no result"; ok; }

awk -F '\t' '
	{ name = $2 ($3 == "-" ? "" : " " $3) " " $4 }
	$1 == "ok" { print "pass scenarios " name; next }
	$1 == "explored" { print "skip scenarios " name ": nothing is expected of it"; next }
	{ print "fail scenarios " name ": " $1 }' "$out/runs" > "$out/results"
cat "$out/results" >> "$results"
sed -n 's/^fail scenarios/FAILED  scenarios:/p; s/^skip scenarios/SKIPPED scenarios:/p' "$out/results"
if [ "$status" -ne 0 ] && ! grep -q '^fail' "$results"; then
	fail "lightiov run ends with status $status"
fi
ok
