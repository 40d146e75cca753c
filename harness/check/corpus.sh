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

# planted TARGET SITE: without this check some input must fail by what the target watches, or hang.
planted()
{
	log=$out/$1-$2.log
	timeout 20 "$B/fuzz/fuzz_$1" --ablate "$2" "harness/fuzz/corpus/$1"/* > "$log" 2>&1
	if [ $? -eq 124 ] || grep -qE '^fuzz: does not hold|runtime error|AddressSanitizer' "$log"; then
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
