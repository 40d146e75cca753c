#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The checks checked: each is given what it must refuse, and must refuse it.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/selftest
rm -rf "$out"
mkdir -p "$out"

# runner WAY STATUS COUNTS: the unit runner, on a program that ends so.
runner()
{
	mkdir -p "$out/$1/programs"
	$CC -DWAY="$1" -o "$out/$1/programs/test_$1" harness/check/selftest.c -lcmocka || { fail "$1 does not compile"; return; }
	OUT=$out/$1 PROGRAMS=$out/$1/programs TIMEOUT=2 harness/check/unit.sh > "$out/$1/log" 2>&1
	status=$?
	counts=$(cut -d' ' -f1 "$out/$1/unit.results" | sort | uniq -c | tr -s ' \n' ' ')
	if [ "$status $counts" = "$2  $3 " ]; then
		pass "unit runner: $1"
	else
		fail "unit runner: $1 gives status $status and$counts" "$(cat "$out/$1/log")"
	fi
}

# refuses WHAT HOW-OFTEN STEP: the step's run on planted input, in $out/planted.
refuses()
{
	found=$(grep -c '^fail' "$out/planted/$3.results")
	if [ "$found" -eq "$2" ]; then
		pass "$3: $1"
	else
		fail "$3: $1: $found refused, not $2" "$(cat "$out/planted/$3.log")"
	fi
}

runner PASSES         0 "2 pass"
runner SKIPS          0 "1 pass 1 skip"
runner FAILS          1 "1 fail 1 pass"
runner FAILS_IN_SETUP 1 "1 fail 1 pass"
runner CRASHES        1 "1 fail 1 pass"
runner ABORTS         1 "1 fail"
runner HANGS          1 "1 fail"
runner LEAVES         1 "1 fail"
runner RUNS_NOTHING   1 "1 fail"
runner HIDES_FAILURE  1 "2 fail 1 pass"
runner LATE_STATUS    1 "1 fail 2 pass"

planted=$out/planted
mkdir -p "$planted/tree/kernel/core"
{
	echo '#include <linux/types.h>'
	echo '#ifdef __KERNEL__'
	echo 'int f(void) {'
	echo '}'
	echo 'int f(void)'
	echo '{'
	yes '	;' | head -n 600
	echo '}'
	echo '#endif'
} > "$planted/tree/kernel/core/bad.c"
OUT=$planted TREE=$planted/tree harness/check/source.sh > "$planted/source.log" 2>&1
refuses "a file that breaks each rule" 6 source

cat > "$planted/README.md" <<'README'
```console
$ echo right; echo wrong
right
right
$ echo took 3 s; echo one; echo two; echo end
took ... s
...
end
$ false
$ sh -c 'exit 3'   # exit 3
```
<!-- not run: a reason -->
```console
$ echo not run
nothing
```
README
OUT=$planted harness/check/readme.sh "$planted/README.md" > "$planted/readme.log" 2>&1
refuses "another output, another status" 2 readme

# shellcheck disable=SC2016 # not for the shell
printf '```console\n$ make -s a\n...\nb 1...\n```\n' > "$planted/of.md"
printf 'other\nb 1 2\n' > "$planted/of.like"
printf 'other\nb 2 2\n' > "$planted/of.other"
if harness/check/readme-of a "$planted/of.like" "$planted/of.md" && ! harness/check/readme-of a "$planted/of.other" "$planted/of.md" > /dev/null; then
	pass "readme-of: another output of a target"
else
	fail "readme-of: does not tell two outputs of a target apart"
fi

mkdir -p "$planted/bugs"
printf 'echo right\n#< right\n' > "$planted/bugs/right.sh"
printf 'echo wrong\n#< right\n' > "$planted/bugs/wrong.sh"
printf 'echo right; exit 1\n#< right\n' > "$planted/bugs/status.sh"
printf 'echo nothing\n' > "$planted/bugs/nothing.sh"
OUT=$planted REPRODUCERS=$planted/bugs harness/check/reproducers.sh > "$planted/reproducers.log" 2>&1
refuses "another answer, another status, none expected" 3 reproducers

echo 'u64 f(void);' > "$planted/bad.h"
if [ -n "$(harness/check/headers.sh "$planted/bad.h")" ]; then
	pass "headers: one that misses a type"
else
	fail "headers: one that misses a type compiles"
fi
ok
