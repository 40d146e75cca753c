#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The command keeps its word to scripts: exit codes, what goes to stdout and what to stderr,
# documents that parse, replay commands that repeat what they say.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/cli
rm -rf "$out"
mkdir -p "$out"
lightiov=$(realpath "$B/lightiov")
attack=scenarios/malicious/lba/LBA-01.lua

# run_it ARGUMENT...: leaves $status, and what it printed in $out/stdout and $out/stderr.
run_it()
{
	timeout -k 5 120 "$lightiov" "$@" > "$out/stdout" 2> "$out/stderr" < /dev/null
	status=$?
}
# ends STATUS WHAT ARGUMENT...
ends()
{
	wanted=$1 what=$2
	shift 2
	run_it "$@"
	if [ "$status" -eq "$wanted" ]; then
		pass "$what"
	else
		fail "$what: lightiov $*: status $status, not $wanted" "$(tail -n 10 "$out/stdout" "$out/stderr")"
	fi
}
says() # WHERE WHAT TEXT
{
	if grep -qF -e "$3" "$out/$1"; then pass "$2"; else fail "$2: no '$3' on $1" "$(head -n 20 "$out/$1")"; fi
}
silent() # WHERE WHAT
{
	expect_none "$2: nothing on $1" "$(head -n 5 "$out/$1")"
}

# Usage is the user's to read on stderr; only an answer goes to stdout.
ends 2 "no command";                  silent stdout "no command"; says stderr "no command" usage
ends 2 "unknown command"              dance;     silent stdout "unknown command"
ends 2 "unknown option"               run --dance "$attack"; silent stdout "unknown option"
ends 2 "unknown policy"               run --policy none "$attack"; says stderr "unknown policy" paper
ends 2 "no jobs"                      run --jobs 0 "$attack"
ends 2 "a seed that is no number"     run --seed x "$attack"
ends 2 "no path"                      run
ends 2 "a path that is not there"     run "$out/nowhere"; says stderr "a path that is not there" nowhere; silent stdout "a path that is not there"
mkdir -p "$out/tree/1/2/3/4/5/6/7/8"
cp "$attack" "$out/tree"
ends 2 "a folder too far down"        run --policy nrd "$out/tree"; says stderr "a folder too far down" tree/1/2/3/4/5/6/7/8
rm -r "$out/tree/1"
ln -s nowhere "$out/tree/link.lua"
ends 2 "a scenario that is not there" run --policy nrd "$out/tree"; says stderr "a scenario that is not there" link.lua
says stdout "a scenario that is not there: is counted" "1 in error"
run_it run --quiet --policy nrd --junit "$out/unreadable.xml" "$out/tree"
expect_none "a scenario that is not there: JUnit has an error" "$(grep -c '<error ' "$out/unreadable.xml" | grep -vx 1)"
ends 0 "help"                         help;      says stdout "help" "exit:"
ends 0 "qtest's help"                 qtest --help; says stdout "qtest's help" "cmb_size_mb"
ends 2 "a device that the model has not" qtest -device e1000 -qtest stdio; says stderr "a device that the model has not" e1000
silent stdout "a device that the model has not"
ends 0 "list"                         list scenarios
listed=$(grep -cE '\.lua|^[A-Za-z]+-' "$out/stdout")
[ "$listed" -gt 0 ] || fail "list shows no scenario" "$(head "$out/stdout")"

# Documents.
ends 0 "run" run "$attack"
says stdout "run names the seed" "seed"
cp "$out/stdout" "$out/first"
ends 0 "run, to a document" run --json "$attack"
if "$B/check/runs" < "$out/stdout" > "$out/runs" 2> "$out/why"; then
	pass "stdout is one document"
else
	fail "stdout is one document" "$(cat "$out/why")"
fi
cp "$out/stdout" "$out/document"
run_it run "--json=$out/file" "$attack"
expect_same "the document is the same in a file" "$out/document" "$out/file"
expect_same "and stdout is as without it" "$out/first" "$out/stdout"
run_it run --junit "$out/junit.xml" "$attack"
if [ "$(grep -c '<testcase ' "$out/junit.xml")" -eq "$(wc -l < "$out/runs")" ]; then
	pass "JUnit has a case for each run"
else
	fail "JUnit has not a case for each run" "$(cat "$out/junit.xml")"
fi
ends 2 "a document in a place that is not there" run --json="$out/nowhere/file" "$attack"

# Verdicts that differ, and the command that repeats them.
mkdir "$out/differs"
cp "$attack" "$out/differs"
awk -F '\t' -v OFS='\t' '$1 == "LBA-01" && $4 == "nrd" { $6 = "backend" } { print }' scenarios/expected.tsv > "$out/differs/expected.tsv"
ends 1 "a verdict that differs" run --seed 5 "$out/differs"
says stdout "a verdict that differs: names what was expected" backend
replay=$(sed -n 's/^ *replay: lightiov //p' "$out/stdout" | head -n 1)
says stdout "a verdict that differs: says the seed" "--seed 5"
# shellcheck disable=SC2086
ends 1 "the replay command differs again" ${replay:-no replay command}
ends 1 "a verdict that differs, as a document" run --json "$out/differs"
expect_none "it is the one run that differs" "$("$B/check/runs" < "$out/stdout" | awk -F '\t' '($1 == "FAIL") != ($4 == "nrd")')"
sed '/^LBA-01/s/guest-kernel/guest-user/' scenarios/expected.tsv > "$out/attacker.tsv"
ends 1 "another attacker than expected" run --expected "$out/attacker.tsv" "$attack"
head -n 1 scenarios/expected.tsv > "$out/none.tsv"
ends 0 "without expectations: explored" run --expected "$out/none.tsv" "$attack"

# Scenarios with mistakes: file, line, what is wrong; and no end.
scenario() # NAME BODY
{
	printf 'scenario { id = "%s", name = "Planted", tags = { "benign" }, about = "Planted.", vms = baseline() }\nfunction run(m)\n%s\nend\n' \
		"$1" "$2" > "$out/$1.lua"
}
echo 'scenario {' > "$out/syntax.lua"
ends 2 "a syntax error" run "$out/syntax.lua"; says stderr "a syntax error: its place" "syntax.lua:"
scenario mistake '  m:no_such_verb()'
ends 2 "an unknown verb" run "$out/mistake.lua"
expect_none "an unknown verb: its place" "$(cat "$out/stdout" "$out/stderr" | grep -q 'mistake.lua:3' || echo "no mistake.lua:3")"
scenario mistaken_loop '  while true do end'
ends 2 "a script that computes without end" run --policy paper "$out/mistaken_loop.lua"
scenario forever '  while true do m:sleep(s(1)) end'
ends 3 "a run without end" run --policy paper "$out/forever.lua"
scenario escape '  os.execute("true")'
ends 2 "a script that reaches for the system" run "$out/escape.lua"
scenario made_up '  seen("nvme:0/0x80")'
ends 2 "a status that the script makes up" run "$out/made_up.lua"
scenario fails '  expect.violations(1)'
ends 1 "a check that fails" run "$out/fails.lua"


# Contained, as the table has it, but what is another's was reached before the attack began.
mkdir "$out/early"
cat > "$out/early/EARLY-01.lua" <<'LUA'
scenario { id = "EARLY-01", name = "Planted", tags = { "malicious" }, attacker = "guest-kernel", about = "Planted.", vms = baseline() }
function run(m)
  local A = m:vm("A")
  local page = A:alloc(1)
  A:raw { opcode = 2, slba = m:vm("B").lba_start, nlb = 7, prp1 = page }:wait()
  attack(A, function() A:raw { opcode = 2, nsid = 0xFFFFFFFF, nlb = 7, prp1 = page }:wait() end)
end
LUA
{ head -n 1 scenarios/expected.tsv; printf 'EARLY-01\t-\tguest-kernel\tpaper\tcontained\tcontroller\tnvme:0/0x02\t-\tplanted\n'; } > "$out/early/expected.tsv"
ends 1 "a violation before the attack" run --policy paper "$out/early"
says stdout "a violation before the attack: is counted" "the oracle saw 1 violations; expected 0"

# Of all attacks: README.md's.
ends 0 "matrix" matrix scenarios/malicious/lba
says stdout "matrix" LBA-01
ok
