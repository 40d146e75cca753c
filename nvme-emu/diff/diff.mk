# SPDX-License-Identifier: GPL-2.0
# The differential bench: QEMU's NVMe and VT-d beside the model's. Included by the Makefile.

DIFF_SRC  := $(sort $(wildcard nvme-emu/diff/*.c))
DIFF_OBJ  := $(DIFF_SRC:%.c=$(B)/%.o)
DIFF_SEED ?= 1
DIFF_RANDOM ?= --random nvme:20000 --random vtd:5000
DIFF_OUT  ?= $(B)/qemu-diff.out

$(B)/qemu-diff: $(DIFF_OBJ) $(B)/nvme-emu/base64.o
	$(call say,LD)$(LINK) -o $@ $^ -ljansson

.PHONY: check-qemu
check-qemu: $(EMULATOR) ## QEMU's NVMe and VT-d and the model, command by command
	@harness/deps build
	@$(MAKE) -s $(B)/lightiov $(B)/qemu-diff
	$(B)/qemu-diff --model $(B)/lightiov --status nvme-emu/diff/status.tsv --complete --seed $(DIFF_SEED) $(DIFF_RANDOM) \
		--out $(DIFF_OUT) --json $(B)/qemu-diff.json $(sort $(wildcard nvme-emu/diff/sequences/*.ops))

-include $(DIFF_OBJ:.o=.d)

.PHONY: check-qemu-mutants
check-qemu-mutants: $(EMULATOR) ## can that fail? bugs planted in the model, each found and shrunk
	@harness/deps build
	@$(MAKE) -s $(B)/lightiov $(B)/qemu-diff
	nvme-emu/diff/mutants $(B)/qemu-mutants
