# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# For /test of a host that runs VMs (busybox sh in L1): the function, mdevs, and unmodified QEMU.
# Functions end the test when they fail, so none is called in a subshell; what they find is in $answer.
#
#   l1_start NAME                     NAME is the first word of what the test prints; find the function ($function, $bdf), mount debugfs
#   monitor COMMAND...                to the monitor of the emulator that this host runs in
#   host_load POLICY [PARAMETER...]   insmod lightiov_host and bind it       host_unload
#   mdev_create UUID TYPE BLOCKS      TYPE: 1q, 2q, 4q, 8q                   mdev_remove UUID
#   mdev_attr UUID NAME               print an attribute
#   vm_start NAME UUID [QEMU-ARG...]  VM with the kernel and initramfs of /l2; answers when it has booted
#   vm_up NAME...                     wait for that answer; a VM that stops before its user space is started once more
#   vm_send NAME COMMAND...           to /guest in the VM (l2.init); does not wait
#   vm_answer NAME SECONDS            wait for the end of the last command: $answer is what it said; fail if it failed
#   vm_ask NAME SECONDS COMMAND...    both
#   vm_lives NAME                     fail unless its QEMU does
#   vm_state NAME                     print what its processors and QEMU's threads are at (a test that fails does)
#   vm_exits NAME                     MMIO exits so far, in KVM's own count (prints it)
#   vm_kill NAME                      kill -9 its QEMU                       vm_off NAME: power off from inside
# A VM's console is printed when it ends, each line with "L2 NAME|" before it; boot looks for complaints there too.

vms=/tmp/vms
mkdir -p $vms
test=
run=$(sed -n 's/.*liov\.run=\([0-9a-f]*\).*/\1/p' /proc/cmdline)
# A kernel with checkers is slow: liov.patience= times the usual limits.
patience=$(sed -n 's/.*liov\.patience=\([0-9]*\).*/\1/p' /proc/cmdline)

say()
{
	echo "$test: $*"
}

fail()
{
	for pid in "$vms"/*.pid; do
		[ -e "$pid" ] || continue
		vm_state "$(basename "$pid" .pid)" >&2
		vm_console "$(basename "$pid" .pid)" >&2
	done
	say "FAILED: $*" >&2
	exit 1
}

l1_start()
{
	test=$1
	function=
	for d in /sys/bus/pci/devices/*; do
		[ "$(cat "$d/class")" = 0x010802 ] && function=$d
	done
	[ -n "$function" ] || fail "no NVMe function"
	bdf=${function##*/}
	mount -t debugfs debugfs /sys/kernel/debug
	exec 5<> /dev/ttyS1
	stty raw -echo <&5
	# shellcheck disable=SC3045 # busybox has it
	ulimit -l unlimited
}

# The line before ends what may be there of echoes.
monitor()
{
	printf '\n%s\n' "$*" >&5
}

host_load()
{
	policy=$1
	shift
	insmod /lib/m/lightiov_host.ko "policy=$policy" "$@" || fail "lightiov_host does not load: $policy $*"
	echo lightiov_host > "$function/driver_override"
	echo "$bdf" > /sys/bus/pci/drivers_probe
	[ "$(basename "$(readlink "$function/driver")")" = lightiov_host ] || fail "lightiov_host does not bind: $policy $*"
}

host_unload()
{
	[ "$(cat /sys/module/lightiov_host/parameters/broken)" = N ] || fail "an assertion failed in lightiov_host"
	rmmod lightiov_host || fail "lightiov_host does not unload"
	[ ! -d /sys/module/lightiov_host ] || fail "lightiov_host is still there"
	echo > "$function/driver_override"
}

mdev_create()
{
	echo "$1" > "$function/mdev_supported_types/lightiov_host-$2/create" || fail "no mdev $1 of type $2"
	echo "$3" > "/sys/bus/mdev/devices/$1/blocks" || fail "mdev $1 does not get $3 blocks"
}

mdev_remove()
{
	echo 1 > "/sys/bus/mdev/devices/$1/remove" || fail "mdev $1 is not removed"
}

mdev_attr()
{
	cat "/sys/bus/mdev/devices/$1/$2"
}

# Options that only make the emulated boot faster, as in boot. Without those for pci the kernel reads from each
# slot of 256 buses, four times over where it takes the processor for a K8: 51,000 exits of 67,000.
l2_fast='pci=noearly,lastbus=0 mitigations=off cryptomgr.notests=1 tsc=reliable no_timer_check lpj=4890000 audit=0'

# Emulated SVM does not intercept XSETBV, so a VM with XSAVE finds sizes that are not those of what it enabled, and
# enables it for the host as well: none of it.
vm_start()
{
	vm=$vms/$1 name=$1 uuid=$2
	shift 2
	rm -f "$vm".*
	echo "$name $uuid $*" > "$vm.args"
	mkfifo "$vm.in" "$vm.out" "$vm.monitor.in" "$vm.monitor.out"
	timeout $((600 * ${patience:-1})) qemu-system-x86_64 -accel kvm -cpu host,-xsave -smp 1 -m 192M -nodefaults -no-user-config -display none \
		-no-reboot -M q35,hpet=off -L /share/qemu -bios /share/qemu/qboot.rom \
		-kernel /l2/vmlinux -initrd /l2/initramfs \
		-append "console=ttyS0 loglevel=5 panic=-1 reboot=t $l2_fast liov.run=$run liov.name=$name" \
		-serial "file:$vm.console" -chardev "pipe,id=command,path=$vm" -serial chardev:command \
		-chardev "pipe,id=monitor,path=$vm.monitor" -mon chardev=monitor \
		-device "vfio-pci,sysfsdev=/sys/bus/mdev/devices/$uuid" "$@" < /dev/null > "$vm.qemu" 2>&1 &
	echo $! > "$vm.pid"
}

vm_send()
{
	vm=$vms/$1
	shift
	echo "$*" > "$vm.in"
}

# Emulated SVM now and then loses a processor's time while a kernel boots: nothing of LightIOV runs in it yet.
vm_up()
{
	for up; do
		# shellcheck disable=SC3045 # busybox has it
		if ! read -t $((150 * ${patience:-1})) -r answer <> "$vms/$up.out" && ! grep -q '^L2 begin' "$vms/$up.console"; then
			say "VM $up stopped before its user space: once more"
			vm_state "$up" >&2
			vm_kill "$up"
			# shellcheck disable=SC2046
			vm_start $(cat "$vms/$up.args")
			vm_answer "$up" 150
		elif [ "$answer" != "$run ok up" ]; then
			fail "VM $up: $answer"
		fi
	done
}

# "RUN ok TEXT" or "RUN failed TEXT".
vm_answer()
{
	answer=
	# shellcheck disable=SC3045 # busybox has it
	read -t $(($2 * ${patience:-1})) -r answer <> "$vms/$1.out" || fail "VM $1 does not answer in $2 s"
	case $answer in
	"$run ok"*) answer=${answer#"$run ok"} answer=${answer# } ;;
	*) fail "VM $1: ${answer#"$run "}" ;;
	esac
}

vm_ask()
{
	asked=$1 seconds=$2
	shift 2
	vm_send "$asked" "$@"
	vm_answer "$asked" "$seconds"
}

vm_lives()
{
	[ -e "/proc/$(cat "$vms/$1.pid")" ] || fail "VM $1 ended by itself"
}

# Twice: what moves is at work.
vm_state()
{
	qemu=$(cat "$vms/$1.pid")
	[ -e "/proc/$qemu" ] || { echo "STATE $1| its QEMU has ended"; return; }
	for _ in 1 2; do
		for counter in exits halt_exits mmio_exits irq_injections pf_fixed; do
			printf '%s %s ' $counter "$(cat "/sys/kernel/debug/kvm/$qemu"-*/$counter)"
		done
		echo
		for thread in "/proc/$qemu/task"/*; do
			echo "thread ${thread##*/} $(cut -d' ' -f3 "$thread/stat") $(tr '\n' ' ' < "$thread/stack" | sed 's/\[<0>\] //g')"
		done
		printf 'info registers -a\ninfo lapic 0\ninfo lapic 1\n' > "$vms/$1.monitor.in"
		timeout 2 cat "$vms/$1.monitor.out" | grep -E '^(CPU#|R[A-Z0-9 ]+=|CR0|LVTT|ISR|IRR|dumping)' || :
	done 2>&1 | sed "s/^/STATE $1| /"
}

vm_exits()
{
	cat "/sys/kernel/debug/kvm/$(cat "$vms/$1.pid")"-*/mmio_exits
}

vm_console()
{
	sed "s/^/L2 $1| /" "$vms/$1.console"
	sed "s/^/QEMU $1| /" "$vms/$1.qemu"
	rm "$vms/$1.pid"
}

vm_kill()
{
	kill -9 "$(cat "$vms/$1.pid")"
	wait "$(cat "$vms/$1.pid")"
	vm_console "$1"
}

vm_off()
{
	vm_send "$1" off
	wait "$(cat "$vms/$1.pid")" || fail "VM $1 does not power off"
	vm_console "$1"
	grep -q "^L2 end $run" "$vms/$1.console" || fail "VM $1 ended without its end marker"
}
