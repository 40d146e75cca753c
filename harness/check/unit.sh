#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The unit tests, JOBS programs at once. Counts come from cmocka's XML; a program that crashes,
# hangs, or ends without a count is a failure by itself. UNIT=WORD runs only programs whose
# name has WORD; PROGRAMS=DIR and TIMEOUT are for the self-test.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

programs=${PROGRAMS:-$B/unit}
# Of the processor: on a busy machine the clock on the wall says nothing. It stops what waits for ever.
seconds=${TIMEOUT:-$([ -n "${SAN-}" ] && echo 300 || echo 60)}
wall=${TIMEOUT:-$((5 * seconds))}
out=$OUT/unit
rm -rf "$out"
mkdir -p "$out"

list=
if [ -n "${PROGRAMS-}" ]; then
	list=$(cd "$programs" && ls)
else
	for source in harness/unit/test_*"${UNIT-}"*.c; do
		[ ! -f "$source" ] || list="$list $(basename "$source" .c)"
	done
fi
[ -n "$list" ] || { fail "no test program is named like '${UNIT-}'"; ok; }

# %g is the group's name: a program may have several.
# shellcheck disable=SC2016,SC2086
printf '%s\n' $list | xargs -P "$JOBS" -I{} sh -c '
	(ulimit -t "$3" && CMOCKA_MESSAGE_OUTPUT=xml CMOCKA_XML_FILE="$2/{}.%g.xml" \
		exec timeout -k 5 "$4" "$1/{}" < /dev/null > "$2/{}.log" 2>&1)
	echo $? > "$2/{}.rc"' sh "$programs" "$out" "$seconds" "$wall"

for name in $list; do
	rc=$(cat "$out/$name.rc")
	cat "$out/$name".*.xml 2>/dev/null | awk -v name="$name" -f harness/check/cmocka.awk > "$out/$name.counts"
	cat "$out/$name.counts" >> "$results"
	failed=$(grep -c '^fail' "$out/$name.counts")
	why=
	case $rc in
	0) [ "$failed" -eq 0 ] || why="says all is well" ;;
	124 | 137 | 152) why="ran longer than $seconds s" ;;
	*) [ "$failed" -gt 0 ] || why="ended with status $rc" ;;
	esac
	[ -n "$why" ] || [ -s "$out/$name.counts" ] || why="ran no test"
	if [ -n "$why" ]; then
		fail "$name $why" "$(tail -n 40 "$out/$name.log")"
	elif [ "$failed" -gt 0 ]; then
		echo "FAILED  unit: $name: $failed tests"
		cat "$out/$name".*.xml | sed -n 's/.*<testcase name="\([^"]*\)".*/        \1/p
			s/\]\]><\/failure>//; s/.*<failure><!\[CDATA\[/                /p' | awk '
			/^        [^ ]/ { test = $0; next } { if (test != "") print test; test = ""; print }'
		sed 's/^/        /' "$out/$name.log" | tail -n 40
	fi
	sed -n "s/^skip \(.*\)/SKIPPED unit: \1/p" "$out/$name.counts"
done
ok
