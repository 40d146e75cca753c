# SPDX-License-Identifier: GPL-2.0
# The bare guest: an image, and who runs it. Included by the Makefile; all of it lands below build/.

GUEST_B     := $(B)/guest
GUEST_I     := -Iharness/guest -Iharness/guest/port -I$(LIOV_DIR)/include -Imodel/spec
# In the image: no library, no vector registers, addresses as they are linked.
GUEST_IMAGE_CC := $(CC) -std=gnu11 -g -O2 $(WARN) -ffreestanding -fno-strict-aliasing -fno-pic -fno-stack-protector \
	-fcf-protection=none -fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -mno-red-zone \
	-mgeneral-regs-only -mno-sse $(GUEST_I)
GUEST_CC    := $(SIM_CC) -Iharness/guest
# The guest's sources for this process: the model's own run.
GUEST_NATIVE_CC := $(COMPILE) -ffreestanding $(GUEST_I)

GUEST_FRONTEND := $(patsubst $(LIOV_DIR)/core/%.c,%,$(wildcard $(LIOV_DIR)/core/frontend*.c))
GUEST_PROGRAM  := kernel main attack
GUEST_IMAGE_OBJ  := $(addprefix $(GUEST_B)/image/,start.o instructions.o $(GUEST_PROGRAM:=.o) $(GUEST_FRONTEND:=.o))
GUEST_NATIVE_OBJ := $(addprefix $(GUEST_B)/native/,$(GUEST_PROGRAM:=.o) $(GUEST_FRONTEND:=.o))
GUEST_MACHINE_OBJ := $(GUEST_B)/machine.o $(GUEST_B)/report.o

$(GUEST_B)/flags: FORCE | packages
	$(call remember,$(GUEST_IMAGE_CC) $(GUEST_CC) $(GUEST_NATIVE_CC))

$(GUEST_B)/image/%.o: harness/guest/image/%.c $(GUEST_B)/flags
	$(call make_object,$(GUEST_IMAGE_CC))
$(GUEST_B)/image/%.o: harness/guest/image/%.S $(GUEST_B)/flags
	$(call make_object,$(GUEST_IMAGE_CC))
$(GUEST_B)/image/%.o: $(LIOV_DIR)/core/%.c $(GUEST_B)/flags
	$(call make_object,$(GUEST_IMAGE_CC))
$(GUEST_B)/native/%.o: harness/guest/image/%.c $(GUEST_B)/flags
	$(call make_object,$(GUEST_NATIVE_CC))
$(GUEST_B)/native/%.o: $(LIOV_DIR)/core/%.c $(GUEST_B)/flags
	$(call make_object,$(GUEST_NATIVE_CC))
$(GUEST_B)/%.o: harness/guest/%.c $(GUEST_B)/flags $(B)/flags
	$(call make_object,$(GUEST_CC))

$(GUEST_B)/image.lds: harness/guest/image/image.lds.S harness/guest/image/layout.h
	@mkdir -p $(@D)
	$(CC) -E -P -x c -Iharness/guest/image -o $@ $<
$(GUEST_B)/image.elf: $(GUEST_B)/image.lds $(GUEST_IMAGE_OBJ)
	$(call say,LD)$(CC) -nostdlib -static -no-pie -Wl,--build-id=none,--no-warn-rwx-segments,-T,$< -o $@ $(GUEST_IMAGE_OBJ)
$(GUEST_B)/image.bin: $(GUEST_B)/image.elf
	objcopy -O binary $< $@

$(GUEST_B)/guest-model: $(GUEST_B)/model.o $(GUEST_MACHINE_OBJ) $(GUEST_NATIVE_OBJ) $(LIBS)
	$(call say,LD)$(LINK) -o $@ $(filter %.o,$^) $(WITH_LIBS)

# These two have bytes for content that another processor may map: flat.o is in front of the simulator's store.
$(GUEST_B)/guest-unicorn: $(GUEST_B)/unicorn.o $(GUEST_B)/flat.o $(GUEST_MACHINE_OBJ) $(LIBS)
	$(call say,LD)$(LINK) -o $@ $(filter %.o,$^) $(WITH_LIBS) -lunicorn
# Static: it also runs in an initramfs.
$(GUEST_B)/guest-kvm: $(addprefix $(GUEST_B)/,kvm.o doorbells.o flat.o) $(GUEST_MACHINE_OBJ) $(B)/libsim.a $(B)/libcore.a $(B)/libmodel.a
	$(call say,LD)$(LINK) $(if $(SAN),,-static) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lxxhash -lm

guest: $(addprefix $(GUEST_B)/,guest-model guest-unicorn guest-kvm image.bin)

check-kvm: ## the bare guest on the model, on Unicorn, on KVM: all count the same
	harness/deps build qemu guest
	$(MAKE) -s guest $(LINUX_DEB)/complete $(EMULATOR)
	harness/guest/check $(GUEST_B) $(LINUX_DEB) $(GUEST_B)/check

.PHONY: guest check-kvm

-include $(GUEST_IMAGE_OBJ:.o=.d) $(GUEST_NATIVE_OBJ:.o=.d) $(wildcard $(GUEST_B)/*.d)
