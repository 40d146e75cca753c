# SPDX-License-Identifier: GPL-2.0
# Fuzzing: each harness/fuzz/fuzz_NAME.c with clang's libFuzzer under ASan and UBSan, in a build folder
# of its own. The same targets without libFuzzer replay harness/fuzz/corpus in make check.

FUZZ         ?=
FUZZ_SECONDS ?= 60
FUZZ_B       ?= build/libfuzzer
FUZZ_SRC     := $(sort $(wildcard harness/fuzz/fuzz_*.c))
FUZZ_BIN     := $(FUZZ_SRC:harness/%.c=$(B)/%)

.PHONY: fuzz fuzz-targets

fuzz: ## each fuzz target for FUZZ_SECONDS (60); FUZZ=NAME for some of them
	@harness/deps build check fuzz
	@$(MAKE) -s B=$(FUZZ_B) CC=clang SAN=1 CFLAGS='-fsanitize=fuzzer-no-link -w' FUZZER=-fsanitize=fuzzer fuzz-targets
	@harness/fuzz/run $(FUZZ_B) $(FUZZ_SECONDS) $(JOBS) $(FUZZ)

fuzz-targets: $(FUZZ_BIN)

$(B)/fuzz/%.o: harness/fuzz/%.c $(B)/flags
	$(call make_object,$(UNIT_CC) -O2 -Iharness/fuzz)
$(B)/fuzz/fuzz_%: $(B)/fuzz/fuzz_%.o $(if $(FUZZER),,$(B)/fuzz/replay.o) $(LIBS)
	$(call say,LD)$(LINK) $(FUZZER) -o $@ $(filter %.o,$^) $(WITH_LIBS) -lcmocka

-include $(FUZZ_BIN:=.d) $(B)/fuzz/replay.d
