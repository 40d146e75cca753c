# SPDX-License-Identifier: GPL-2.0
# The house. Each folder is compiled with -I of only what it may see, so that a wrong include
# does not compile: harness -> nvme-emu, sim -> model; sim -> kernel; kernel -> model/spec.

# LightIOV's sources: this tree's, or another one to try.
LIOV_DIR   ?= kernel
# 1: with ASan and UBSan; for coverage.
SAN        ?=
COV        ?=
# How many things to do at once; V=1 shows the commands.
JOBS       ?= $(shell nproc)
V          ?=

# Each choice has a build folder of its own.
LIOV_NAME := $(if $(filter-out $(abspath kernel),$(abspath $(LIOV_DIR))),/liov$(subst /,_,$(abspath $(LIOV_DIR))))
B         := build$(if $(SAN),/san)$(if $(COV),/cov)$(LIOV_NAME)

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

comma    := ,
SANITIZE := $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
WARN     := -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
COMPILE  := $(CC) -std=gnu11 -g $(if $(COV),-O0 --coverage,-O2) $(WARN) -fno-strict-aliasing $(SANITIZE) $(CFLAGS)
LINK     := $(CC) $(SANITIZE) $(if $(COV),--coverage) $(LDFLAGS)
LDLIBS   := -llua5.4 -ljansson -lxxhash -lm

# What each folder may see. The home's side of the port comes from sim/port; Lua is asked for
# when it is needed, for it may not be installed yet when this file is read.
MODEL_CC    := $(COMPILE) -ffreestanding -Imodel
KERNEL_CC   := $(COMPILE) -ffreestanding -I$(LIOV_DIR)/include -Imodel/spec -Isim/port
NOFRONT_CC  := $(KERNEL_CC) -DLIOV_NO_FRONTEND_CHECKS
ORACLE_CC   := $(COMPILE) -Isim -Imodel -Imodel/spec
SIM_I       := -Isim -Isim/port -Imodel -Imodel/spec -I$(LIOV_DIR)/include
SIM_CC      := $(COMPILE) $(SIM_I)
# Of sim/ it takes the queue of events and the store, no more: harness/check/isolation.sh looks.
EMU_CC      := $(COMPILE) -Invme-emu -Isim -Imodel -Imodel/spec
MAIN_CC     := $(SIM_CC) -Invme-emu
SCENARIO_CC  = $(SIM_CC) $(shell pkg-config --cflags lua5.4)
# A test's own code need not be fast, and a third of a build's time was its optimization.
UNIT_CC      = $(COMPILE) -O0 -Iharness/unit -I. $(SIM_I) -Invme-emu -I$(LIOV_DIR)/core $(shell pkg-config --cflags lua5.4)

MODEL_SRC := $(sort $(wildcard model/*.c model/*/*.c))
CORE_SRC  := $(sort $(wildcard $(LIOV_DIR)/core/*.c))
SIM_SRC   := $(filter-out sim/main.c,$(sort $(wildcard sim/*.c sim/*/*.c)))
EMU_SRC   := $(sort $(wildcard nvme-emu/*.c))
UNIT_SRC  := $(sort $(wildcard harness/unit/test_*.c))
MODEL_OBJ := $(MODEL_SRC:%.c=$(B)/%.o)
CORE_OBJ  := $(CORE_SRC:$(LIOV_DIR)/%.c=$(B)/kernel/%.o)
NOFRONT_OBJ := $(CORE_SRC:$(LIOV_DIR)/%.c=$(B)/nofrontend/%.o)
SIM_OBJ   := $(SIM_SRC:%.c=$(B)/%.o)
EMU_OBJ   := $(EMU_SRC:%.c=$(B)/%.o)
UNIT_BIN  := $(UNIT_SRC:harness/%.c=$(B)/%)
LIBS      := $(B)/libnvme-emu.a $(B)/libsim.a $(B)/libcore.a $(B)/libmodel.a
WITH_LIBS := -Wl,--start-group $(LIBS) -Wl,--end-group $(LDLIBS)

all: $(B)/lightiov ## build build/lightiov (the default)

# harness/check, harness/qemu, harness/guest, harness/fio, harness/fuzz, harness/report and nvme-emu/diff bring their own targets.
include harness/check/check.mk
include $(wildcard harness/qemu/qemu.mk)
include $(wildcard harness/guest/guest.mk)
include $(wildcard nvme-emu/diff/diff.mk)
include $(wildcard harness/fio/fio.mk)
include $(wildcard harness/fuzz/fuzz.mk)
include $(wildcard harness/report/report.mk)
include $(wildcard harness/proof/proof.mk)
include $(wildcard harness/mutants/mutants.mk)

# $(call say,WHAT) before a command: a short line in its place, none under make -s.
say  = $(if $(V),,@$(if $(findstring s,$(firstword -$(MAKEFLAGS))),,printf '  %-4s %s\n' $1 $@;))
make_object = $(call say,CC)mkdir -p $(@D) && $1 -MMD -MP -c -o $@ $<

$(B)/model/%.o: model/%.c $(B)/flags
	$(call make_object,$(MODEL_CC))
$(B)/kernel/%.o: $(LIOV_DIR)/%.c $(B)/flags
	$(call make_object,$(KERNEL_CC))
$(B)/nofrontend/%.o: $(LIOV_DIR)/%.c $(B)/flags
	$(call make_object,$(NOFRONT_CC))
$(B)/sim/oracle/%.o: sim/oracle/%.c $(B)/flags
	$(call make_object,$(ORACLE_CC))
$(B)/sim/scenario/%.o: sim/scenario/%.c $(B)/flags
	$(call make_object,$(SCENARIO_CC))
$(B)/sim/main.o: sim/main.c $(B)/flags
	$(call make_object,$(MAIN_CC))
$(B)/sim/serve/%.o: sim/serve/%.c $(B)/flags
	$(call make_object,$(MAIN_CC))
$(B)/nvme-emu/%.o: nvme-emu/%.c $(B)/flags
	$(call make_object,$(EMU_CC))
# It knows the core's sites by their list, which stands beside the core's files.
$(B)/sim/sites.o: sim/sites.c $(B)/flags
	$(call make_object,$(COMPILE) -I$(LIOV_DIR)/core $(SIM_I))
$(B)/sim/%.o: sim/%.c $(B)/flags
	$(call make_object,$(SIM_CC))
$(B)/sim/report/page.o: sim/report/page.html sim/report/page.css sim/report/page.js
$(B)/unit/%.o: harness/unit/%.c $(B)/flags
	$(call make_object,$(UNIT_CC))

$(B)/libmodel.a: $(MODEL_OBJ)
$(B)/libcore.a: $(CORE_OBJ)
$(B)/libsim.a: $(SIM_OBJ)
$(B)/libnvme-emu.a: $(EMU_OBJ)
$(B)/%.a: $(B)/sources
	$(call say,AR)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(B)/lightiov: $(B)/sim/main.o $(LIBS)
	$(call say,LD)$(LINK) -o $@ $< $(WITH_LIBS)
$(B)/unit/%: $(B)/unit/%.o $(B)/unit/ablate.o $(LIBS)
	$(call say,LD)$(LINK) -o $@ $< $(B)/unit/ablate.o $(WITH_LIBS) -lcmocka

unit: $(UNIT_BIN)

# LightIOV without the frontend's checks, to show what they are worth: make check-nofrontend.
nofrontend: $(B)/nofrontend/lightiov
$(B)/nofrontend/libcore.a: $(NOFRONT_OBJ)
$(B)/nofrontend/lightiov: $(B)/sim/main.o $(B)/libnvme-emu.a $(B)/libsim.a $(B)/nofrontend/libcore.a $(B)/libmodel.a
	$(call say,LD)$(LINK) -o $@ $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LDLIBS)

# Written only when it changes: other flags, another compiler or a file less build anew.
remember = @mkdir -p $(@D); echo '$(subst ','\'',$1)' | cmp -s - $@ || echo '$(subst ','\'',$1)' > $@
$(B)/flags: FORCE | packages
	$(call remember,$(shell $(CC) --version | head -n 1) $(MODEL_CC) $(KERNEL_CC) $(NOFRONT_CC) $(ORACLE_CC) \
		$(EMU_CC) $(SCENARIO_CC) $(UNIT_CC) $(LINK) $(LDLIBS))
$(B)/sources: FORCE
	$(call remember,$(MODEL_OBJ) $(CORE_OBJ) $(SIM_OBJ) $(EMU_OBJ))

# Names what is missing; `make run` and `make check` install it, if they may.
packages:
	@harness/deps -n build

run: ## the main job: install what is missing, build, replay scenarios/, print the matrix
	@harness/deps build
	@$(MAKE) -s all
	@$(B)/lightiov run --jobs $(JOBS) scenarios; ran=$$?; \
	 $(B)/lightiov matrix --jobs $(JOBS) scenarios/malicious && exit $$ran

bench: all ## I/Os a second that the simulator simulates
	$(B)/lightiov bench --hot

clean: ## remove build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z%-]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | \
	 awk -F '\t' '{ printf "make %-20s %s\n", $$1, $$2 }'

FORCE:
.PHONY: all unit nofrontend packages run bench clean help FORCE
.SECONDARY:
.DELETE_ON_ERROR:
-include $(patsubst %.o,%.d,$(MODEL_OBJ) $(CORE_OBJ) $(NOFRONT_OBJ) $(SIM_OBJ) $(EMU_OBJ) \
           $(UNIT_BIN:=.o) $(B)/sim/main.o)
