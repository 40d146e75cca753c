#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Scripts in the form in which bugs of QEMU's devices are reported, on the model behind the
# same protocol: each ends well and answers as the lines '#< ...' at its end say.
# REPRODUCERS=DIR replays others, for the self-test.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/reproducers
rm -rf "$out"
mkdir -p "$out"
export QEMU="$B/lightiov qtest"

for script in "${REPRODUCERS:-nvme-emu/reproducers}"/*.sh; do
	name=$(basename "$script" .sh)
	sed -n 's/^#< //p' "$script" > "$out/$name.expected"
	timeout -k 5 60 sh "$script" > "$out/$name.actual" 2>&1 < /dev/null
	status=$?
	if [ "$status" -ne 0 ]; then
		fail "$name: status $status" "$(tail -n 20 "$out/$name.actual")"
	elif [ ! -s "$out/$name.expected" ]; then
		fail "$name: says no answers"
	else
		expect_same "$name" "$out/$name.expected" "$out/$name.actual"
	fi
done
ok
