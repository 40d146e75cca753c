#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The arrows of the house hold: what a folder may not see does not compile there, and what
# each object was really made of, by the compiler's own account, is what it may see.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/isolation
mkdir -p "$out"

# compiles COMMAND HEADER
compiles()
{
	printf '#include "%s"\n' "$2" > "$out/probe.c"
	$1 -S -o /dev/null "$out/probe.c" 2> "$out/probe.log"
}
sees()
{
	if compiles "$2" "$3"; then pass "$1 sees $3"; else fail "$1 does not see $3" "$(cat "$out/probe.log")"; fi
}
blind()
{
	if compiles "$2" "$3"; then
		fail "$1 sees $3"
	elif grep -q 'No such file or directory' "$out/probe.log"; then
		pass "$1 does not see $3"
	else
		fail "$1 finds $3, though it does not compile" "$(cat "$out/probe.log")"
	fi
}

sees  model  "$MODEL_CC"  nvme/nvme.h
blind model  "$MODEL_CC"  liov/liov.h
blind model  "$MODEL_CC"  machine.h
blind model  "$MODEL_CC"  oracle/oracle.h
sees  kernel "$KERNEL_CC" liov/liov.h
sees  kernel "$KERNEL_CC" nvme.h
blind kernel "$KERNEL_CC" cpu/cpu.h
blind kernel "$KERNEL_CC" bus.h
blind kernel "$KERNEL_CC" machine.h
sees  oracle "$ORACLE_CC" pci/pci.h
blind oracle "$ORACLE_CC" liov/liov.h
blind oracle "$ORACLE_CC" machine.h
sees  sim    "$SIM_CC"    machine.h
sees  nvme-emu "$EMU_CC"  nvme/nvme.h
blind nvme-emu "$EMU_CC"  liov/liov.h

# made_of FOLDER PATTERN...: of nothing outside these, by the .d files of its objects.
made_of()
{
	folder=$1
	allowed=$(echo "$2" | sed "s|KERNEL|$LIOV_DIR|g")
	deps=$(find "$B/$folder" -name '*.d')
	[ -n "$deps" ] || { fail "$folder has no objects"; return; }
	# shellcheck disable=SC2086
	expect_none "$folder is made of its own" "$(cat $deps | tr -s ' \\\n' '\n' | grep '\.[ch]$' | sort -u |
		while read -r file; do
			realpath --relative-to=. "$file"
		done | grep -vE "$allowed")"
}
kernel=$(realpath --relative-to=. "$LIOV_DIR")
made_of model '^model/'
made_of kernel "^($kernel|model/spec|sim/port)/"
made_of nvme-emu '^(nvme-emu|model)/|^sim/(event|store)\.h$'
made_of sim/oracle '^(model|sim)/' 
expect_none "the oracle is not made of hosts and VMs" "$(
	find "$B/sim/oracle" -name '*.d' -exec cat {} + | grep -oE 'sim/(host|vm|port|path|scenario|judge)/[^ ]*\.h' | sort -u)"
ok
