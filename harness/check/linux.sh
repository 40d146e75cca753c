# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For the steps that boot Linux, after lib.sh: what they need, or why they are skipped.

[ -z "${SAN-}" ] || { skip "the module in Linux is not sanitized: once, in the plain build, is enough"; ok; }
[ -f "$LIOV_DIR/linux/host/Kbuild" ] || { skip "$LIOV_DIR has no linux/host"; ok; }

# apt's lists may be absent, or older than the archive.
# shellcheck disable=SC2154 # of lib.sh
if ! $MAKE -s build/linux-deb/complete build/qemu-deb/complete > "$OUT/$step.get" 2>&1 && [ "$(id -u)" -eq 0 ]; then
	apt-get -qq update > "$OUT/$step.get" 2>&1
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
