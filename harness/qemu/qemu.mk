# SPDX-License-Identifier: GPL-2.0
# Linux's home of LightIOV: the module, and one boot of it under QEMU. Included by the Makefile;
# everything lands below build/, nothing is installed. harness/qemu/PACKAGES says what it needs.

LINUX_DEB ?= build/linux-deb
LINUX_B   ?= $(B)/linux
QEMU_B    ?= $(B)/qemu
LINUX_WERROR ?= 1
# The emulator of the hosts: QEMU 11 unpacked privately, or another one (LIOV_QEMU=qemu-system-x86_64: the system's).
QEMU_DEB  ?= build/qemu-deb
LIOV_QEMU ?= $(QEMU_DEB)/qemu-system-x86_64
export LIOV_QEMU
EMULATOR  := $(if $(filter $(QEMU_DEB)/%,$(LIOV_QEMU)),$(QEMU_DEB)/complete)
LINUX_MODULES ?= host guest

.PHONY: kernel kernel-tree check-linux-static check-linux-gate check-linux-controls check-linux-mdev check-linux-stack

$(LINUX_DEB)/complete: harness/qemu/get harness/qemu/vmlinux
	@harness/deps build qemu
	harness/qemu/get $(LINUX_DEB)
	@touch $@

$(QEMU_DEB)/complete: harness/qemu/get-qemu harness/qemu/nested
	harness/qemu/get-qemu $(QEMU_DEB)
	harness/qemu/nested $(QEMU_DEB)
	@touch $@

# Links to the sources, laid out as they are, so that Kbuild's objects stay out of them.
kernel-tree:
	@mkdir -p $(LINUX_B)/kernel $(LINUX_B)/model
	@find $(LINUX_B) -type l -delete
	@cp -rs $(abspath $(LIOV_DIR))/. $(LINUX_B)/kernel
	@ln -sfn $(abspath model/spec) $(LINUX_B)/model/spec

kernel: $(if $(KDIR),,$(LINUX_DEB)/complete) kernel-tree ## build lightiov_host.ko and lightiov_guest.ko for Debian 12's Linux, or KDIR=...
	$(foreach m,$(LINUX_MODULES),$(MAKE) -C $(abspath $(or $(KDIR),$(LINUX_DEB)/kdir)) M=$(abspath $(LINUX_B)/kernel/linux/$m) \
		CC=gcc-12 W=1 $(if $(LINUX_WERROR),KCFLAGS=-Werror) modules &&) :

check-linux-static: kernel ## sparse over the modules' sources
	harness/qemu/static $(LINUX_DEB) $(LINUX_B) host guest

check-linux-gate: kernel $(EMULATOR) ## boot it once under QEMU: read through both kinds of queue
	harness/qemu/gate $(LINUX_DEB) $(LINUX_B)/kernel/linux/host/lightiov_host.ko $(QEMU_B)/gate

check-linux-controls: kernel $(EMULATOR) ## can that fail? without disk content, IOMMU, interrupt remapping
	harness/qemu/gate-controls $(LINUX_DEB) $(LINUX_B)/kernel/linux/host/lightiov_host.ko $(QEMU_B)/controls

check-linux-mdev: kernel $(EMULATOR) ## VMs' devices through VFIO, under both policies
	harness/qemu/mdev $(LINUX_DEB) $(LINUX_B)/kernel/linux/host/lightiov_host.ko $(QEMU_B)/mdev

check-linux-stack: kernel $(EMULATOR) ## two VMs with Linux on one NVMe, under both policies
	harness/qemu/stack $(LINUX_DEB) $(LINUX_B)/kernel/linux $(QEMU_B)/stack

# The guest's module as an attacker, in a tree of its own: the same objects, built otherwise.
ATTACK_B ?= $(B)/linux-attack

.PHONY: kernel-attack check-attacks check-attacks-controls

kernel-attack: $(LINUX_DEB)/complete
	@$(MAKE) --no-print-directory kernel-tree LINUX_B=$(ATTACK_B)
	$(MAKE) -C $(abspath $(LINUX_DEB)/kdir) M=$(abspath $(ATTACK_B)/kernel/linux/guest) \
		CC=gcc-12 W=1 ATTACK=1 $(if $(LINUX_WERROR),KCFLAGS=-Werror) modules

check-attacks: kernel $(EMULATOR) kernel-attack $(B)/lightiov ## a Linux guest's kernel attacks another VM: verdicts beside the model's
	ATTACK=1 harness/qemu/static $(LINUX_DEB) $(ATTACK_B) guest
	harness/qemu/attack-judge-test $(QEMU_B)/judge
	harness/qemu/attacks $(LINUX_DEB) $(LINUX_B)/kernel/linux/host/lightiov_host.ko \
		$(ATTACK_B)/kernel/linux/guest/lightiov_guest.ko $(B)/lightiov $(QEMU_B)/attacks

check-attacks-controls: kernel-attack $(EMULATOR) $(B)/lightiov ## can that fail? cores with one check less, a boot each
	harness/qemu/attack-controls $(LINUX_DEB) $(ATTACK_B)/kernel/linux/guest/lightiov_guest.ko $(B)/lightiov $(QEMU_B)/attack-controls

# All boots on a kernel with lockdep and KASAN. Not in CI: its build takes half an hour.
LINUX_DEBUG ?= build/linux-debug

.PHONY: check-stack-debug check-stack-mutants

check-stack-debug: ## the boots on a kernel with lockdep and KASAN, built first
	harness/deps debug
	harness/qemu/debug $(LINUX_DEBUG)
	LIOV_QEMU_TIMEOUT=3600 LIOV_QEMU_APPEND=liov.patience=6 \
		$(MAKE) -j1 LINUX_DEB=$(LINUX_DEBUG) LINUX_B=$(B)/debug/linux QEMU_B=$(B)/debug/qemu \
		check-linux-gate check-linux-mdev check-linux-stack

check-stack-mutants: $(LINUX_DEB)/complete ## mutations of the core, each of which check-linux-stack must notice; an hour
	harness/qemu/stack-mutants $(QEMU_B)/mutants

# Linux and its own nvme driver in VMs whose disk the model serves.
.PHONY: check-linux check-linux-served check-linux-served-controls

check-linux: ## unmodified Linux in VMs on lightiov serve: nvme-cli, ext4, fio, resets, two VMs on one SSD
	@harness/deps build qemu
	@$(MAKE) --no-print-directory -s check-linux-served check-linux-served-controls

check-linux-served: $(LINUX_DEB)/complete $(QEMU_DEB)/complete $(B)/lightiov
	LIOV_QEMU=$(QEMU_DEB)/qemu-system-x86_64 harness/qemu/linux $(LINUX_DEB) $(B)/lightiov $(QEMU_B)/linux

check-linux-served-controls: check-linux-served # can that fail? servers with one thing wrong
	LIOV_QEMU=$(QEMU_DEB)/qemu-system-x86_64 harness/qemu/linux-controls $(LINUX_DEB) $(QEMU_B)/linux-controls
