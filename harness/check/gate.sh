#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Linux's home: the module built with Kbuild, sparse, and its boots under QEMU (harness/qemu).
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

[ -z "${SAN-}" ] || { skip "the module in Linux is not sanitized: once, in the plain build, is enough"; ok; }

[ -f "$LIOV_DIR/linux/host/Kbuild" ] || { skip "$LIOV_DIR has no linux/host"; ok; }

# apt's lists may be absent, or older than the archive.
if ! $MAKE -s build/linux-deb/complete > "$OUT/gate.get" 2>&1 && [ "$(id -u)" -eq 0 ]; then
	apt-get -qq update > "$OUT/gate.get" 2>&1
fi
# try TARGET WHAT
try()
{
	if $MAKE -s "$1" > "$OUT/$1" 2>&1; then
		pass "$2"
		tail -n 1 "$OUT/$1"
	else
		fail "$2" "$(tail -n 60 "$OUT/$1")"
	fi
}
try check-linux-static "sparse and W=1 on the modules"
try check-linux-gate "lightiov_host.ko on Debian's Linux"
try check-linux-mdev "a VM's device through VFIO, on Debian's Linux"
ok
