#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What fuzzing found, replayed: every input of harness/fuzz/corpus through its target, without libFuzzer.
# And the targets themselves: with a bug planted in what they watch, the same inputs must fail.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/corpus
mkdir -p "$out"

# replay BINARY CORPUS LOG: status of the first input that fails; its name is the log's last one.
replay() { timeout "${TIMEOUT:-120}" "$1" "$2"/* > "$3" 2>&1; }

for source in harness/fuzz/fuzz_*.c; do
	name=$(basename "$source" .c)
	corpus=harness/fuzz/corpus/${name#fuzz_}
	if [ -z "$(ls "$corpus" 2> /dev/null)" ]; then
		fail "$name has no corpus"
	elif replay "$B/fuzz/$name" "$corpus" "$out/$name.log"; then
		pass "$name"
	else
		fail "$name ends with status $?" "$(tail -n 20 "$out/$name.log")"
	fi
done

# planted TARGET SITE: without this check some input must fail by what the target watches, or go round for ever. All of
# them together take a tenth of a second of the processor.
seconds=$([ -n "${SAN-}" ] && echo 20 || echo 2)
planted()
{
	log=$out/$1-$2.log
	(ulimit -t "$seconds"; timeout 60 "$B/fuzz/fuzz_$1" --ablate "$2" "harness/fuzz/corpus/$1"/*; exit $?) > "$log" 2>&1
	# 137, 152: the limit.
	case $? in 137 | 152) echo "fuzz: does not hold: no end" >> "$log" ;; esac
	if grep -qE '^fuzz: does not hold|runtime error|AddressSanitizer' "$log"; then
		pass "$1 notices that $2 is gone"
	else
		fail "$1 does not notice that $2 is gone" "$(tail -n 5 "$log")"
	fi
}

for site in mediator_lba_range mediator_dsm_range mediator_prp_window mediator_opcode; do
	planted mediator $site
done
planted device device_bar_shape
planted vtd iommu_page_reserved
planted nvme controller_queue_twice
ok
