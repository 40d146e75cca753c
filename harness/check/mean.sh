#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Scenarios that mean no good to the simulator: whatever a script asks for, a run ends in bounded
# time as expected, differing, refused or hung (0 to 3); never by a signal, an assert or a sanitizer.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

seconds=${TIMEOUT:-$([ -n "${SAN-}" ] && echo 300 || echo 60)}
out=$OUT/mean
rm -rf "$out"
mkdir -p "$out"
head -n 1 scenarios/expected.tsv > "$out/none.tsv"

scripts=$(find harness/check/mean -name '*.lua' -exec basename {} \; | sort)
# shellcheck disable=SC2016,SC2086
printf '%s\n' $scripts | xargs -P "$JOBS" -I{} sh -c '
	timeout -k 5 "$2" "$1" run --jobs 1 --expected "$3/none.tsv" "harness/check/mean/$4" < /dev/null > "$3/$4.log" 2>&1
	echo $? > "$3/$4.rc"' sh "$B/lightiov" "$seconds" "$out" {}

for script in $scripts; do
	rc=$(cat "$out/$script.rc")
	if [ "$rc" -gt 3 ]; then
		fail "$script ends with status $rc" "$(grep -A 3 '^BUG' "$out/$script.log" | head -n 20)"
	elif ! tail -n 1 "$out/$script.log" | grep -q '^[1-9][0-9]* runs: '; then
		fail "$script ran nothing" "$(tail -n 5 "$out/$script.log")"
	else
		pass "$script"
	fi
done
ok
