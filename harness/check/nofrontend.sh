#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The frontend is the guest's: with all its checks left out, no verdict of a policy that does
# not credit it may change. That they are left out shows under paper, which does.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/nofrontend
mkdir -p "$out"

all_runs
"$B/nofrontend/lightiov" run --jobs "$JOBS" --quiet --json="$out/json" scenarios/malicious > "$out/log" 2>&1
"$B/check/runs" < "$out/json" > "$out/runs"
find scenarios/malicious -name '*.lua' -exec basename {} .lua \; > "$out/attacks"

# verdicts POLICY: a line each, without what may follow from an attack going further.
verdicts()
{
	awk -F '\t' -v policy="$1" 'NR == FNR { attack[$1]; next } $2 in attack && $4 == policy' "$out/attacks" - | cut -f 2-8
}
for policy in mediated nrd siov paper; do
	verdicts $policy < "$OUT/scenarios/runs" > "$out/$policy.with"
	verdicts $policy < "$out/runs" > "$out/$policy.without"
	[ -s "$out/$policy.with" ] || fail "$policy: no verdicts" "$(tail -n 20 "$out/log")"
done
expect_same "mediated: the same verdicts without the frontend's checks" "$out/mediated.with" "$out/mediated.without"
expect_same "nrd: the same verdicts without the frontend's checks" "$out/nrd.with" "$out/nrd.without"
expect_same "siov: the same verdicts without the frontend's checks" "$out/siov.with" "$out/siov.without"

credited=$(awk -F '\t' '$4 == "contained" && $5 == "frontend"' "$out/paper.with")
still=$(awk -F '\t' '$4 == "contained" && $5 == "frontend"' "$out/paper.without")
if [ -z "$credited" ]; then
	fail "paper: the frontend stops nothing even with its checks: this shows nothing"
elif [ -n "$still" ]; then
	fail "paper: contained by frontend checks that are not there" "$still"
else
	pass "paper: what the frontend stopped is not stopped by it any more"
fi
ok
