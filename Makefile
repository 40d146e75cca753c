# SPDX-License-Identifier: GPL-2.0
# The house: each folder is compiled with -I of only what it may see, so a wrong include
# does not compile. harness -> nvme-emu, sim -> model; sim -> kernel; kernel -> model/spec.

CC       ?= gcc
LIOV_DIR ?= kernel
SAN      ?=
COV      ?=
NOFRONTEND ?=

B := build$(if $(SAN),/san)$(if $(COV),/cov)$(if $(NOFRONTEND),/nofrontend)

comma    := ,
WARN     := -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Werror
BASE     := -std=gnu11 -g $(if $(COV),-O0 --coverage,-O2) $(WARN) -fno-strict-aliasing -MMD -MP \
            $(if $(SAN),-fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
LDFLAGS  += $(if $(SAN),-fsanitize=address$(comma)undefined) $(if $(COV),--coverage)
LUA_CFLAGS := $(shell pkg-config --cflags lua5.4 2>/dev/null)
LDLIBS   := -llua5.4 -ljansson -lxxhash -lm

MODEL_I  := -Imodel
KERNEL_I := -I$(LIOV_DIR)/include -Imodel/spec
SIM_I    := -Isim -Isim/port -Imodel -Imodel/spec -I$(LIOV_DIR)/include $(LUA_CFLAGS)
UNIT_I   := -Iharness/unit -I. $(SIM_I) -I$(LIOV_DIR)/core -Imodel/spec

MODEL_SRC  := $(sort $(wildcard model/*.c model/*/*.c))
CORE_SRC   := $(sort $(wildcard $(LIOV_DIR)/core/*.c))
SIM_SRC    := $(filter-out sim/main.c,$(sort $(wildcard sim/*.c sim/*/*.c)))
UNIT_SRC   := $(sort $(wildcard harness/unit/test_*.c))
MODEL_OBJ  := $(MODEL_SRC:%.c=$(B)/%.o)
CORE_OBJ   := $(CORE_SRC:$(LIOV_DIR)/%.c=$(B)/kernel/%.o)
SIM_OBJ    := $(SIM_SRC:%.c=$(B)/%.o)
UNIT_BIN   := $(UNIT_SRC:harness/unit/%.c=$(B)/unit/%)

all: $(B)/lightiov

$(B)/model/%.o: model/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE) -ffreestanding $(MODEL_I) -c -o $@ $<

# LightIOV in the simulator: the home's side of the port comes from sim/port.
$(B)/kernel/%.o: $(LIOV_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE) -ffreestanding $(KERNEL_I) -Isim/port $(if $(NOFRONTEND),-DLIOV_NO_FRONTEND_CHECKS) -c -o $@ $<

$(B)/sim/%.o: sim/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(SIM_I) -c -o $@ $<

$(B)/libmodel.a: $(MODEL_OBJ)
$(B)/libcore.a: $(CORE_OBJ)
$(B)/libsim.a: $(SIM_OBJ)
$(B)/lib%.a:
	@rm -f $@
	$(AR) rcs $@ $^

LIBS := $(B)/libsim.a $(B)/libcore.a $(B)/libmodel.a

$(B)/lightiov: $(B)/sim/main.o $(LIBS)
	$(CC) $(LDFLAGS) -o $@ $< -Wl,--start-group $(LIBS) -Wl,--end-group $(LDLIBS)

$(B)/unit/%: harness/unit/%.c $(LIBS)
	@mkdir -p $(@D)
	$(CC) $(BASE) $(UNIT_I) $(LDFLAGS) -o $@ $< -Wl,--start-group $(LIBS) -Wl,--end-group $(LDLIBS) -lcmocka

unit: $(UNIT_BIN)

clean:
	rm -rf build

.PHONY: all unit clean
.SECONDARY:
-include $(shell find $(B) -name '*.d' 2>/dev/null)
