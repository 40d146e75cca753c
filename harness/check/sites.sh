#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The named checks and steps: each that a sites.def lists stands in the code of its folder. One that is not listed
# does not compile.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/sites

for list in "$LIOV_DIR/core LIOV" "model MODEL" "sim/host HOST"; do
	folder=${list% *} prefix=${list#* }
	names=$(sed -n "s/^${prefix}_SITE(\([a-z0-9_]*\),.*/\1/p" "$folder/sites.def")
	[ -n "$names" ] || { fail "$folder/sites.def lists nothing"; continue; }
	where=$folder
	[ "$folder" != sim/host ] || where=sim
	find $where -name '*.[ch]' -exec cat {} + | grep -oE '[A-Za-z0-9_]+' | sed "s/^${prefix}_SITE_//" | sort -u > "$out.words"
	expect_none "each site of $folder stands in its code" "$(echo "$names" | sort -u | comm -23 - "$out.words")"
done
ok
