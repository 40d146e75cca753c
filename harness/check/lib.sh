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
