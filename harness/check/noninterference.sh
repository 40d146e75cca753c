#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# `lightiov run --noninterference` over all scenarios is part of the step scenarios. Here it must find leaks that
# were planted, most of which break no claim of the oracle's, and must not take for proof what shows nothing.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/noninterference
mkdir -p "$out"

# seen PROGRAM CASE POLICY OPTION...: exit status, verdict, what of noninterference, and the first value that differs.
seen()
{
	program=$1
	case=$2
	policy=$3
	shift 3
	timeout 120 "$program" run --noninterference --policy "$policy" --variant - --quiet --json="$out/json" "$@" "scenarios/malicious/$case.lua" \
		> "$out/log" 2>&1
	printf '%s ' $?
	"$B/check/runs" < "$out/json" | cut -f 5,11,12 | tr '\t' ' '
}

# expect WHAT LIKE PROGRAM CASE POLICY OPTION...
expect()
{
	what=$1
	like=$2
	shift 2
	got=$(seen "$@")
	# shellcheck disable=SC2254
	case $got in $like) pass "$what" ;; *) fail "$what: seen '$got', not '$like'" "$(tail -n 5 "$out/log")" ;; esac
}

# planted WHAT LIKE CASE POLICY FILE SED
planted()
{
	with_bug "$out/lightiov" "$1" "$5" "$6" && expect "$1" "$2" "$out/lightiov" "$3" "$4"
}

expect "as it is: the same view" "0 contained same view -" "$B/lightiov" rem/REM-01 nrd
expect "by time alone: the same view" "0 OUTAGE same view -" "$B/lightiov" lif/LIF-02 nrd
expect "blocks are not wiped: data of another's" "1 ESCAPED escaped memory 0x*" "$B/lightiov" rem/REM-01 paper --ablate backend_wipe,backend_wipe_verify
expect "frames are not zeroed: memory of another's" "1 contained LEAK frames 0x*" "$B/lightiov" rem/REM-01 nrd --ablate host_frames_zero

# A status that tells of the blocks it protects: CRD, by what they hold.
planted "a refusal tells what the blocks hold" "1 contained LEAK * 0x*" lba/LBA-01 nrd model/nvme/nvme_cmd.c \
	's/^\treport_status(cmd, status);/&\n\tif ((status \& 0x7FF) == NVME_SC_LBA_RANGE) {\n\t\tu16 held;\n\n\t\tstore_read(n->media, cmd->sqe.cdw10 * 512ull, \&held, 2);\n\t\tstatus |= (u16)((held \& 3) << 11);\n\t}/'
# Completions' DW0 is left as it was: where another's queue is.
planted "a completion tells where another's queue is" "1 contained LEAK * 0x*" lba/LBA-01 nrd model/nvme/nvme_queue.c \
	's/{ .dw0 = dw0, /{ .dw0 = dw0 | (u32)(n->sq[1].mem.base >> 20), /'
# A register of the virtual controller's that nobody reads for long: where another's blocks are.
planted "a register tells where another's blocks are" "1 contained LEAK register 0x*" lba/LBA-01 mediated "$LIOV_DIR/core/device.c" \
	's/val = bar_rd32(vm, (u32)off);/& if (off == 0x1C) val |= vm->be->vms[0]->lba.start >> 20 << 12;/'

# With no secret that is another nothing is shown, and that is said.
planted "no secret is another" "1 contained nothing secret -" lba/LBA-01 nrd sim/scenario/secret.c \
	's/return r->opt->secret \&\& .*/return false;/; s/^\tif (!s)$/\tif (s || !s)/'

# The ratchet.
mkdir -p "$out/table"
cp scenarios/expected.tsv "$out/table/"
rm -f "$out/table/known-leaks"
expect "what is not known fails" "1 contained order completion 0x*" "$B/lightiov" qos/QOS-04 nrd --expected "$out/table/expected.tsv"
printf 'LBA-01\t-\tnrd\tLEAK\tnone\n' > "$out/table/known-leaks"
expect "what is known and does not occur fails" "1 contained same view -" "$B/lightiov" lba/LBA-01 nrd --expected "$out/table/expected.tsv"
printf 'QOS-04\t-\tnrd\tLEAK\tnone\n' > "$out/table/known-leaks"
expect "what is known as something else fails" "1 contained order completion 0x*" "$B/lightiov" qos/QOS-04 nrd --expected "$out/table/expected.tsv"
ok
