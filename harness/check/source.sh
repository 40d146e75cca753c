#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What every source file keeps to: a licence line, no file over 600 lines, no function over 80,
# LightIOV's core free of its homes, and no mutable static state in the model and the core.
# TREE=DIR looks at another tree, for the self-test.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

tree=${TREE:-.}
core=$LIOV_DIR
[ "$tree" = . ] || core=$tree/kernel

# Not by git: the tree may be an export, or another user's. Lists of packages and tables have no comments.
files=$(cd "$tree" && find Makefile .ci kernel model sim nvme-emu scenarios harness -type f \
	! -name PACKAGES ! -path 'harness/packages/*' ! -path 'harness/fuzz/corpus/*' ! -name '*.tsv' ! -name '*.csv' ! -name '*.md' ! -name '*.png' \
	! -name '*.mod.c' ! -name '*.o' ! -name '*.ko' ! -name '.*.cmd' 2>/dev/null | sort)
code=$(echo "$files" | grep '\.[ch]$')
[ -n "$code" ] || { fail "no source files in $tree"; ok; }

# shellcheck disable=SC2086
expect_none "each file has its SPDX line" "$(cd "$tree" && awk '
	FNR == 1 { if (file != "" && !seen) print file; file = FILENAME; seen = 0 }
	FNR <= 3 && /SPDX-License-Identifier: GPL-2.0/ { seen = 1 }
	END { if (!seen) print file }' $files)"

# shellcheck disable=SC2086
expect_none "no file is longer than 600 lines" "$(cd "$tree" && awk '
	FNR == 1 && n > 600 { print file ": " n " lines" }
	{ file = FILENAME; n = FNR }
	END { if (n > 600) print file ": " n " lines" }' $code)"

# A function's braces stand alone in the first column.
# shellcheck disable=SC2086
expect_none "no function is longer than 80 lines" "$(cd "$tree" && awk '
	FNR == 1 { start = 0 }
	/^{/ { start = FNR }
	/^}/ { if (start && FNR - start + 1 > 80) print FILENAME ":" start ": " FNR - start + 1 " lines"; start = 0 }' $code)"

# What of the kernel's formatting needs no judgement; only the kernel's part has its lines counted.
# shellcheck disable=SC2086
expect_none "the code is formatted as the kernel's is" "$(cd "$tree" && awk '
	function bad(what) { print FILENAME ":" FNR ": " what }
	/[ \t]$/ { bad("blanks at the end") }
	/^ {8}|^\t* +\t/ { bad("blanks instead of tabs") }
	/^(.*[^a-z_0-9])?(if|for|while|switch)\(/ || /}else|else{/ { bad("no blank after a keyword, or before one") }
	/^[ \t]+{$/ || /^[a-z].*\) {$/ { bad("a brace in the wrong place") }
	FILENAME ~ /^kernel\// {
		line = $0
		while ((i = index(line, "\t")) > 0)
			line = substr(line, 1, i - 1) substr("        ", (i - 1) % 8 + 1) substr(line, i + 1)
		if (length(line) > 130)
			bad("longer than 130 columns")
	}' $code)"

expect_none "the core does not know Linux" "$(grep -rn 'linux/' "$core/core")"
expect_none "the core has no #if but the frontend's checks" "$(grep -rnE '^[[:space:]]*#[[:space:]]*(el)?if' "$core/core" |
	grep -vE '#ifndef LIOV_[A-Z0-9_]+_H$|#ifn?def LIOV_NO_FRONTEND_CHECKS$')"

# What scripts may say: each verb and key of the engine's tables.
if [ "$tree" = . ]; then
	expect_none "scenarios/README.md names every verb and key" "$({
		grep -ohE '\{ "[a-z_0-9]+", [a-z]' sim/scenario/verbs_*.c sim/scenario/header.c | grep -oE '"[a-z_0-9]+"'
		grep -hE '(_keys\[\] =|args_open\()' sim/scenario/*.c | grep -oE '"[a-z_0-9 ]+"' | tr ' ' '\n'
	} | grep -oE '[a-z_0-9]+' | sort -u | while read -r word; do
		grep -qE "(^|[^a-z_0-9])$word([^a-z_0-9]|\$)" scenarios/README.md || echo "$word"
	done)"
fi

# Sanitizers and gcov have variables of their own.
if [ "$tree" = . ] && [ -z "${SAN-}${COV-}" ]; then
	expect_none "model and core have no mutable static state" "$(size -A "$B/libmodel.a" "$B/libcore.a" | awk '
		/\(ex / { object = $1 }
		$1 ~ /^\.t?(data|bss)/ && $1 !~ /^\.data\.rel\.ro/ && $2 > 0 { print object " " $1 ": " $2 " bytes" }')"
fi
ok
