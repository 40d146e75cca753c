# SPDX-License-Identifier: GPL-2.0
# fio's engine that drives the model. Included by the Makefile; everything lands below build/.

FIO_B      ?= $(B)/fio
FIO_SOURCE ?= build/fio-source
FIO_SO     := $(FIO_B)/liblightiov_fio.so
# Objects of its own: position-independent code would slow the others down.
FIO_PIC    := $(FIO_B)/pic
FIO_LIBS   := $(FIO_PIC)/libsim.a $(FIO_PIC)/libcore.a $(FIO_PIC)/libmodel.a
FIO_CC      = $(COMPILE) -fPIC -fvisibility=hidden -Iharness/fio

.PHONY: fio fio-check

fio: ## build build/fio/liblightiov_fio.so, an ioengine for the fio that is installed
	@harness/deps build fio
	@harness/fio/get-source $(FIO_SOURCE)
	@$(MAKE) --no-print-directory $(if $(V),,-s) $(FIO_SO)

$(FIO_B)/engine.o: harness/fio/engine.c $(FIO_SOURCE)/complete $(B)/flags
	$(call make_object,$(FIO_CC) -D_GNU_SOURCE -Wno-sign-conversion -isystem $(FIO_SOURCE)/src -include config-host.h)
$(FIO_B)/%.o: harness/fio/%.c $(B)/flags
	$(call make_object,$(FIO_CC) $(SIM_I))
$(FIO_LIBS) &: FORCE
	@$(MAKE) --no-print-directory $(if $(V),,-s) B=$(FIO_PIC) CFLAGS='$(CFLAGS) -fPIC' $(FIO_LIBS)
# Nothing of the model's may be mistaken for fio's, or the other way round.
$(FIO_SO): $(FIO_B)/engine.o $(FIO_B)/world.o $(FIO_B)/clock.o $(FIO_LIBS)
	$(call say,LD)$(LINK) -shared -Wl,--exclude-libs,ALL -Wl,-z,lazy -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -Wl,--as-needed $(LDLIBS)

fio-check: fio ## fio on the model: exact figures, content, threads on one clock
	$(if $(SAN),@echo "SKIPPED fio-check: fio itself is not sanitized",harness/fio/check $(FIO_SO) $(FIO_B)/check)

-include $(wildcard $(FIO_B)/*.d)
