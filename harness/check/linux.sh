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

# The modules are made once: Kbuild takes seconds to find that there is nothing to do.
if ! $MAKE -s kernel > "$OUT/$step.kernel" 2>&1; then
	fail "the modules do not build" "$(tail -n 60 "$OUT/$step.kernel")"
	ok
fi
made()
{
	$MAKE -s -o kernel "$1" > "$OUT/$1" 2>&1
}

# A second try, which is said; what the first one left is kept.
again()
{
	echo "ONCE MORE $1: $(grep 'FAILED' "$OUT/$1" | tail -n 1)"
	mkdir -p "$OUT/first/$1"
	cp --parents "$OUT/$1" "$B"/qemu/*/log* "$OUT/first/$1" 2> /dev/null
	made "$1"
}

# try TARGET WHAT [again]: with "again" once more where it fails.
try()
{
	if made "$1" || { [ -n "${3-}" ] && again "$1"; }; then
		pass "$2"
		tail -n 1 "$OUT/$1"
	else
		fail "$2" "$(tail -n 60 "$OUT/$1")"
	fi
}
