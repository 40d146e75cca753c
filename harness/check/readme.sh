#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# README.md says what happens. In its ```console blocks, a line '$ command' is run from the top
# of the tree, and the lines below it are what it prints, stdout and stderr, to the letter:
# but '...' in a line stands for any text, and alone in a line for any number of lines. It ends
# with status 0, or with N where '# exit N' follows the command. A block below a line
# '<!-- not run: why -->' is left alone.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

readme=${1:-README.md}
if [ $# -eq 0 ]; then
	[ -f "$readme" ] || { fail "there is no README.md"; ok; }
	[ "$B" = build ] || { skip "README.md speaks of build/, this is $B/"; ok; }
fi

out=$OUT/readme
rm -rf "$out"
mkdir -p "$out"
awk -v out="$out/" '
	/^```/ && block { block = 0; next }
	/^```console/ { block = 1; run = !skip; skip = 0; n = 0; next }
	{ skip = /^<!-- not run: / }
	!block || !run { next }
	/^\$ / { n++; name = sprintf("%sline%04d", out, FNR); print substr($0, 3) > (name ".sh"); printf "" > (name ".expected"); next }
	n { print > (name ".expected") }
' "$readme"

found=
for command in "$out"/*.sh; do
	[ -f "$command" ] || break
	found=1
	name=${command%.sh}
	wanted=$(sed -n 's/.*# exit \([0-9]*\)$/\1/p' "$command")
	timeout -k 5 120 sh "$command" > "$name.actual" 2>&1 < /dev/null
	status=$?
	if [ "$status" -ne "${wanted:-0}" ]; then
		fail "$(cat "$command"): status $status" "$(tail -n 20 "$name.actual")"
	elif awk -f harness/check/like.awk "$name.expected" "$name.actual"; then
		pass "$(cat "$command")"
	else
		fail "$(cat "$command"): prints something else" "$(diff "$name.expected" "$name.actual" | head -n 40)"
	fi
done
[ -n "$found" ] || fail "$readme has no command to run"
ok
