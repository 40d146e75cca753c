#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each header compiles alone, and twice, with what its folder may see. The home's halves of the
# port (sim/port/*_impl.h) are the second half of liov/port_*.h and compile as that.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

one()
{
	# shellcheck disable=SC2046
	$(compiler_of "$1") -S -o /dev/null -include "$1" -include "$1" -x c /dev/null 2>&1 | head -n 8
}
if [ $# -eq 1 ]; then
	one "$1"
	exit
fi

out=$OUT/headers
rm -rf "$out"
mkdir -p "$out"
find model sim nvme-emu "$LIOV_DIR/include" "$LIOV_DIR/core" -name '*.h' ! -path 'sim/port/*_impl.h' | sort > "$out/list"
# shellcheck disable=SC2016
xargs -P "$JOBS" -I{} sh -c '"$1" "$2" > "$3/$(echo "$2" | tr / +)" 2>&1' sh "$0" {} "$out" < "$out/list"
while read -r header; do
	expect_none "$header" "$(cat "$out/$(echo "$header" | tr / +)")"
done < "$out/list"
ok
