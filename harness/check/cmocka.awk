# SPDX-License-Identifier: GPL-2.0
# cmocka's XML to a line a test: pass, fail or skip, and its name.
function say()
{
	if (test != "")
		print verdict, name, test
	test = ""
}
/<testcase name=/ {
	say()
	test = $0
	sub(/.*<testcase name="/, "", test)
	sub(/".*/, "", test)
	verdict = "pass"
}
/<failure>/ || /<error>/ { verdict = "fail" }
/<skipped/ && test != "" && !/<testsuite / { verdict = "skip" }
END { say() }
