#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The named checks and steps: each that a sites.def lists stands in the code of its folder; one that is not listed
# does not compile. And no command of a guest's is refused by a check without a name, but where harness/check/unnamed says why.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/sites

for list in "$LIOV_DIR/core LIOV" "model MODEL" "sim/host HOST"; do
	folder=${list% *} prefix=${list#* }
	names=$(sed -n "s/^${prefix}_SITE(\([a-z0-9_]*\),.*/\1/p" "$folder/sites.def")
	[ -n "$names" ] || { fail "$folder/sites.def lists nothing"; continue; }
	where=$folder
	[ "$folder" != sim/host ] || where=sim
	find "$where" -name '*.[ch]' -exec cat {} + | grep -oE '[A-Za-z0-9_]+' | sed "s/^${prefix}_SITE_//" | sort -u > "$out.words"
	expect_none "each site of $folder stands in its code" "$(echo "$names" | sort -u | comm -23 - "$out.words")"
done
for file in "$LIOV_DIR"/core/*.[ch]; do awk -f harness/check/unnamed.awk "$file"; done | sort -u > "$out.unnamed"
grep -v '^#' harness/check/unnamed | cut -f 1,2 | sort > "$out.listed"
expect_none "each refusal of kernel/core has a name" "$(comm -23 "$out.unnamed" "$out.listed")"
expect_none "harness/check/unnamed lists nothing else" "$(comm -13 "$out.unnamed" "$out.listed")"
printf 'u16 planted(int x)\n{\n\tif (x)\n\t\treturn NVME_SC_LBA_RANGE | NVME_DNR;\n\treturn 0;\n}\n' > "$out.planted.c"
if [ "$(awk -f harness/check/unnamed.awk "$out.planted.c")" = "sites.planted.c	planted" ]; then pass "a refusal without a name is found"; else fail "a refusal without a name is not found"; fi
ok
