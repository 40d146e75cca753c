# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the steps of harness/check/check. A step says pass, fail or skip once for each thing it
# looked at; what it prints is shown. It ends with the status of `ok`.
set -u
step=$(basename "$0" .sh)
results=$OUT/$step.results

pass() { echo "pass $step $1" >> "$results"; }
skip() { echo "skip $step $1" >> "$results"; echo "SKIPPED $step: $1"; }
fail()
{
	echo "fail $step $1" >> "$results"
	echo "FAILED  $step: $1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/        /'
}

# What was found wrong, a line each; nothing is good.
expect_none()
{
	if [ -z "$2" ]; then pass "$1"; else fail "$1" "$2"; fi
}

expect_same()
{
	if cmp -s "$2" "$3"; then pass "$1"; else fail "$1" "$(diff "$2" "$3" | head -n "${4:-20}")"; fi
}

# What compiles FILE with what its folder may see.
compiler_of()
{
	case $1 in
	model/*) echo "$MODEL_CC" ;;
	"$LIOV_DIR"/*) echo "$KERNEL_CC" ;;
	nvme-emu/*) echo "$EMU_CC" ;;
	sim/oracle/*) echo "$ORACLE_CC" ;;
	sim/scenario/*) echo "$SIM_CC $(pkg-config --cflags lua5.4)" ;;
	*) echo "$SIM_CC" ;;
	esac
}

# with_bug PROGRAM WHAT FILE SED: lightiov as PROGRAM, with SED applied to a copy of FILE that is linked in front of the rest.
with_bug()
{
	sed "$4" "$3" > "$1.c"
	if cmp -s "$1.c" "$3"; then
		fail "$2: $3 does not have what is to be changed"
		return 1
	fi
	# shellcheck disable=SC2046,SC2086
	if ! $(compiler_of "$3") -Wno-unused -Wno-error -I"$(dirname "$3")" -c -o "$1.o" "$1.c" > "$1.log" 2>&1 ||
	   ! $LINK -o "$1" "$B/sim/main.o" "$1.o" $WITH_LIBS >> "$1.log" 2>&1; then
		fail "$2: does not build" "$(tail -n 20 "$1.log")"
		return 1
	fi
}

# Every scenario under each of its policies, once for all steps: leaves $OUT/scenarios/run.json, and in
# $OUT/scenarios/runs a line a run. Its status is lightiov's.
all_runs()
{
	if [ ! -f "$OUT/scenarios/status" ]; then
		mkdir -p "$OUT/scenarios"
		# Each attack also with other secrets of its victims: what differs stands in scenarios/known-leaks.
		"$B/lightiov" run --noninterference --jobs "$JOBS" --quiet --json="$OUT/scenarios/run.json" --junit "$OUT/scenarios/junit.xml" scenarios \
			> "$OUT/scenarios/log" 2>&1
		echo $? > "$OUT/scenarios/status"
		"$B/check/runs" < "$OUT/scenarios/run.json" > "$OUT/scenarios/runs" || { fail "no result" "$(tail -n 20 "$OUT/scenarios/log")"; ok; }
	fi
	return "$(cat "$OUT/scenarios/status")"
}

# The step's closing line and exit status.
ok()
{
	awk -v step="$step" '
		{ n[$1]++ }
		END {
			if (!n["fail"])
				printf "ok      %s: %d%s\n", step, n["pass"], \
					n["skip"] ? " (" n["skip"] " skipped)" : ""
			exit n["fail"] > 0
		}' "$results"
	exit
}
