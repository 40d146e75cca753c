# SPDX-License-Identifier: GPL-2.0
# like.awk EXPECTED ACTUAL: status 0 if they are the same, '...' standing for anything.
function like(want, is,   part, n, i, at)
{
	n = split(want, part, /\.\.\./)
	if (n == 1)
		return want == is
	if (substr(is, 1, length(part[1])) != part[1])
		return 0
	is = substr(is, length(part[1]) + 1)
	for (i = 2; i < n; i++) {
		at = index(is, part[i])
		if (!at)
			return 0
		is = substr(is, at + length(part[i]))
	}
	return length(is) >= length(part[n]) && substr(is, length(is) - length(part[n]) + 1) == part[n]
}
{ sub(/[ \t]+$/, "") }
FILENAME == ARGV[1] { want[++wants] = $0; next }
{ is[++lines] = $0 }
END {
	w = i = 1
	while (i <= lines) {
		if (w <= wants && want[w] == "...") {
			any = w++
			from = i
		} else if (w <= wants && like(want[w], is[i])) {
			w++
			i++
		} else if (any) {
			w = any + 1
			i = ++from
		} else {
			exit 1
		}
	}
	while (w <= wants && want[w] == "...")
		w++
	exit w <= wants
}
