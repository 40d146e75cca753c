#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Every scenario under each of its policies, against scenarios/expected.tsv. In this tree a
# scenario without an expectation is not done yet, and an expectation must have its scenario
# unless the table's owner says otherwise.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/scenarios
all_runs
status=$?
[ "$status" -eq 0 ] || cat "$out/log"

awk -F '\t' '
	{ name = $2 ($3 == "-" ? "" : " " $3) " " $4 }
	$1 == "ok" { print "pass scenarios " name; next }
	$1 == "explored" { print "skip scenarios " name ": nothing is expected of it"; next }
	{ print "fail scenarios " name ": " $1 }' "$out/runs" > "$out/results"
cat "$out/results" >> "$results"
sed -n 's/^fail scenarios/FAILED  scenarios:/p; s/^skip scenarios/SKIPPED scenarios:/p' "$out/results"
# Escapes are a ratchet: each is on record with its reason, and what is on record still escapes.
awk -F '\t' '$5 == "ESCAPED" { print $2 "\t" $3 "\t" $4 }' "$out/runs" | sort > "$out/escapes"
grep -v '^#' scenarios/known-escapes | cut -f 1-3 | sort > "$out/known"
expect_none "no escape that is not in scenarios/known-escapes" "$(comm -23 "$out/escapes" "$out/known")"
expect_none "no escape in scenarios/known-escapes that does not occur" "$(comm -13 "$out/escapes" "$out/known")"

# What is expected is run, but for what scenarios/EXPECTED.md says is shown elsewhere.
awk -F ' *[|] *' '/^## /{ on = /^## Shown elsewhere/ } on && NF > 2 { print $2 }' scenarios/EXPECTED.md > "$out/elsewhere"
expect_none "no row of the table without a run" "$(tail -n +2 scenarios/expected.tsv | while IFS='	' read -r case variant _ policy _; do
	grep -qF "	$case	$variant	$policy	" "$out/runs" || grep -qxF "$case $variant" "$out/elsewhere" || echo "$case $variant $policy"; done)"

# Each row of known-leaks is of a case that there is.
expect_none "no leak in scenarios/known-leaks of a case that there is not" \
	"$(grep -v '^#' scenarios/known-leaks | cut -f 1-3 | while read -r row; do grep -qF "	$row	" "$out/runs" || echo "$row"; done)"

if [ "$status" -ne 0 ] && ! grep -q '^fail' "$results"; then
	fail "lightiov run ends with status $status"
fi
ok
