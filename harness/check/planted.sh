#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Bugs planted in LightIOV's own core, one at a time: what the check that is taken out stopped
# must escape now, and the oracle must say so.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/planted
mkdir -p "$out"

# planted WHAT FILE SED SCENARIO POLICY: the scenario must escape with SED applied to kernel/core/FILE.
planted()
{
	base=$out/$(basename "$2" .c)
	with_bug "$base" "$1" "$LIOV_DIR/core/$2" "$3" || return
	"$base" run --policy "$5" --variant - --quiet --json="$base.json" "scenarios/malicious/$4.lua" > "$base.log" 2>&1
	seen=$("$B/check/runs" < "$base.json" | cut -f 5)
	if [ "$seen" = ESCAPED ]; then pass "$1"; else fail "$1: $4 under $5 is ${seen:-nothing}, not ESCAPED" "$(tail -n 20 "$base.log")"; fi
}

planted "blocks are not wiped" wipe.c \
	's/err = liov_hostio_zero.*/err = 0;/; s/err = wipe_verify.*/err = 0;/' rem/REM-01 paper
planted "blocks are deallocated, which erases nothing here" wipe.c \
	's/err = liov_hostio_zero.*/err = 0;/; s/err = wipe_verify.*/err = 0;/' rem/REM-02 paper
planted "the mediator takes any LBA" mediator_check.c \
	's/if (!LIOV_CHECK(mediator_lba_range,/if (0 \&\& !LIOV_CHECK(mediator_lba_range,/' lba/LBA-01 mediated
planted "the mediator takes any DSM range" mediator_prp.c \
	's/if (!LIOV_CHECK(mediator_dsm_range,/if (0 \&\& !LIOV_CHECK(mediator_dsm_range,/' lba/LBA-07 mediated
planted "released memory stays in the IOMMU's cache" memory.c \
	's/if (LIOV_STEP(backend_mem_sync))/if (0)/' iom/IOM-01 nrd
planted "released memory stays in the IOMMU's cache under its PASID" memory.c \
	's/if (LIOV_STEP(backend_mem_sync))/if (0)/' iom/IOM-01 siov
planted "a queue has all LBAs in its domain" nrd.c \
	's/{ vm->lba.start, vm->lba.count }/{ 0, ~0ULL }/' lba/LBA-01 nrd
planted "a queue has all memory in its domain" nrd.c \
	's/n->nr_dma = nrd_windows(.*/n->nr_dma = 1; n->dma[0] = (struct nvme_nrd_window){ .length = 1ULL << 46 };/' gpa/GPA-01 nrd
planted "a VM may have any queue's doorbells" page.c \
	's/liov_doorbell(be, q->qid, false)/liov_doorbell(be, 2, false)/; s/liov_doorbell(be, vm->queue\[i\]->qid, false)/liov_doorbell(be, 2, false)/' \
	lba/LBA-01 nrd
ok
