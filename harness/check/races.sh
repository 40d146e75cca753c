#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Each race of scenarios/races over SCHEDULES schedules (1000; `make check` takes fewer): what the
# scenario says must hold in all. Then with a bug planted in the host's part, in LightIOV's core or
# in the model: the exploration must find it, and the schedule it prints must show it again, and
# be harmless without the bug.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

out=$OUT/races
n=${SCHEDULES:-1000}
mkdir -p "$out"

"$B/lightiov" run --jobs "$JOBS" --schedules "$n" scenarios/races > "$out/log" 2>&1
status=$?
awk -v n="$n" '
	$1 == "ok" { race = $2 " " $4; next }
	race != "" && $2 == "schedules," { print ($1 == n && $3 > 3 ? "pass" : "fail"), "races", race ": " $0; race = ""; next }
	/^(FAIL|HUNG|ERROR|BUG)/ { print "fail races " $2 " " $4 }' "$out/log" > "$out/results"
cat "$out/results" >> "$results"
[ "$status" -eq 0 ] || fail "lightiov run ends with status $status" "$(tail -n 60 "$out/log")"

# found WHAT LIGHTIOV SCENARIO POLICY
found()
{
	log=$out/$(echo "$1" | tr ' ' '-').log
	"$2" run --policy "$4" --schedules 1000 "$3" > "$log" 2>&1
	replay=$(sed -n 's/^ *replay: lightiov //p' "$log")
	if [ -z "$replay" ]; then
		fail "$1: not found in $3 under $4" "$(tail -n 20 "$log")"
		return
	fi
	# What went wrong, as it is told: of the exploration, and of its schedule alone.
	sed -n '/^      [^ ].*:[0-9]*: /p' "$log" > "$log.first"
	# shellcheck disable=SC2086
	"$2" $replay > "$log.again" 2>&1
	sed -n '/^      [^ ].*:[0-9]*: /p' "$log.again" > "$log.second"
	if ! cmp -s "$log.first" "$log.second" || [ ! -s "$log.first" ]; then
		fail "$1: its schedule does not show it again" "$(diff "$log.first" "$log.second")"
	else
		pass "$1"
	fi
}

# harmless WHAT SCENARIO: what the schedule that found() saw does without the bug.
harmless()
{
	what=$1 scenario=$2
	[ -n "$replay" ] || return
	# shellcheck disable=SC2086
	set -- $replay
	shift 2
	if "$B/lightiov" run "$scenario" "$@" > "$out/harmless.log" 2>&1; then
		pass "$what: harmless without"
	else
		fail "$what: its schedule fails without it too" "$(tail -n 20 "$out/harmless.log")"
	fi
}

# host VERB SCENARIO POLICY: a step that the host leaves out, by m:plant.
host()
{
	sed "s/^function run(m)\$/&\\n  m:plant(\"$1\")/" "scenarios/races/$2.lua" > "$out/$2-$1.lua"
	found "the host leaves out $1, $3" "$B/lightiov" "$out/$2-$1.lua" "$3"
	harmless "the host leaves out $1, $3" "scenarios/races/$2.lua"
}

# planted WHAT FILE SED SCENARIO POLICY: a bug in a source file of the core or the model.
planted()
{
	base=$out/$(basename "$2" .c)-$5
	with_bug "$base" "$1" "$2" "$3" || return
	found "$1" "$base" "scenarios/races/$4.lua" "$5"
	harmless "$1" "scenarios/races/$4.lua"
}

host invept revoked-page nrd
host ept_retry revoked-page paper
host ept_retry revoked-page mediated
host pir_check migrating-vcpu nrd
host wakeup_recheck migrating-vcpu paper
planted "the mediator reads the list again after its check" "$LIOV_DIR/core/mediator_prp.c" \
	's/^	t->first = (gpa_t){ in->prp1 };/	(void)liov_prp_gather(med, in->prp1, in->prp2, med->entries, nr); &/' prp-list mediated
planted "the mediator writes the half with the phase first" "$LIOV_DIR/core/mediator_ring.c" \
	's/port_shm_copy_out(&cq->shm, off, cqe, 8)/FIRST/; s/port_shm_copy_out(&cq->shm, off + 8, &cqe->sqhd, 8)/port_shm_copy_out(\&cq->shm, off, cqe, 8)/; s/FIRST/port_shm_copy_out(\&cq->shm, off + 8, \&cqe->sqhd, 8)/' \
	torn-cqe mediated
planted "the controller writes the half with the phase first" model/nvme/nvme_queue.c \
	's/cqe_write(n, &first);/first.at += 8; __builtin_memcpy(\&first.data, \&cqe.sqhd, 8); & first.at -= 16;/; s/data, &cqe.sqhd, sizeof(first.data)/data, \&cqe, 8/' \
	torn-cqe nrd
planted "a VM's end does not wait for a reset" "$LIOV_DIR/core/teardown.c" \
	'/^void liov_vm_destroy/,/^}/{/port_mutex_\(un\)\{0,1\}lock(&be->control)/d}' reset-teardown paper
ok
