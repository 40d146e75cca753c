#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Linux's home: the modules built with Kbuild, sparse, and the host's boots under QEMU (harness/qemu).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=linux.sh
. "$(dirname "$0")/linux.sh"

try check-linux-static "sparse and W=1 on the modules"
try check-linux-gate "lightiov_host.ko on Debian's Linux"
try check-linux-mdev "a VM's device through VFIO, on Debian's Linux"
ok
