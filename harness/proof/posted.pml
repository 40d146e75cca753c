/*
 * SPDX-License-Identifier: GPL-2.0
 *
 * Posted interrupts: no wake-up is lost. One descriptor, who posts to it, two cores, and a vCPU that runs,
 * is preempted, halts and moves between the cores at any moment. A locked access to the descriptor is one
 * step. Beside each step stands the function that does it:
 *
 *   model/iommu/vtd_ir.c  post()                  VT-d 5.2.3: PIR and ON in one access
 *   sim/host/irq.c        host_post()             PIR, then ON, as KVM's vmx_deliver_posted_interrupt()
 *   model/cpu/apic.c      cpu_deliver(), process_posted(), pid_take(), vcpu_enter(); SDM vol. 3, 30.6
 *   sim/host/irq.c        host_irq_arrive()
 *   sim/host/vcpu.c       host_vcpu_run(), host_vcpu_preempt(), host_vcpu_halt(), host_wakeup()
 *
 * Claim: when nothing can move any more, no bit is left in PIR, and the guest has seen every request.
 * The environment's PROOF_MUTANT chooses one of the changes below; harness/proof/spin.expected says which
 * of them must be found, and which are safe.
 */

c_code {
	extern char *getenv(const char *);
	extern int atoi(const char *);
}

#define CORES	2
#define POSTS	2	/* by the IOMMU; by the host itself one */
#define MOVES	3	/* of the vCPU out of the guest */

#define RUN_NO_LOOK	(mutant == 1)	/* host_vcpu_run() does not look at PIR */
#define RUN_LOOKS_FIRST	(mutant == 2)	/* ... before it clears SN */
#define RUN_KEEPS_SN	(mutant == 3)	/* ... leaves SN set */
#define RUN_KEEPS_NV	(mutant == 4)	/* ... leaves the wake-up vector */
#define RUN_KEEPS_NDST	(mutant == 5)	/* ... leaves the core where the vCPU was last */
#define HALT_NO_LOOK	(mutant == 6)	/* host_vcpu_halt() does not look at ON */
#define HALT_LOOKS_FIRST (mutant == 7)	/* ... before it sets the wake-up vector */
#define HALT_STATE_LATE	(mutant == 8)	/* ... leaves the core last: host_wakeup() does not find a halted vCPU */
#define HALT_KEEPS_NV	(mutant == 9)	/* ... leaves the notification vector */
#define TAKE_PIR_FIRST	(mutant == 10)	/* pid_take() clears ON after PIR */
#define TAKE_KEEPS_ON	(mutant == 11)	/* ... does not clear it */
#define ENTER_NO_LOOK	(mutant == 12)	/* vcpu_enter() does not look at ON */
#define POST_NO_ON	(mutant == 13)	/* post() notifies without ON */
#define HOST_ON_FIRST	(mutant == 14)	/* host_post() writes PIR last */
#define WAKE_LOOKS_AT_PIR (mutant == 15) /* host_wakeup() looks at PIR in place of ON */
#define PREEMPT_SN_FIRST (mutant == 16)	/* host_vcpu_preempt() sets SN before it leaves the core */
#define HALT_LOOKS_AT_BOTH (mutant == 17) /* host_vcpu_halt() looks at PIR, too */
#define RUN_ALWAYS_ON	(mutant == 18)	/* host_vcpu_run() sets ON whatever is in PIR */
#define ENTER_LOOKS_FIRST (mutant == 20) /* vcpu_enter() looks while notifications still go to the host */
#define PREEMPT_NO_SN	(mutant == 19)	/* host_vcpu_preempt() leaves SN clear: needless notifications, no more */

mtype = { RUNNING, PREEMPTED, HALTED, NOTIFY, WAKEUP };

/* The descriptor. One vector is enough: a second is the same bit again. */
bit pir, on, sn;
mtype nv = NOTIFY;
byte ndst;

byte mutant;
mtype state = RUNNING;
byte core;			/* where the vCPU is, or was last */
bool inside = true;		/* vcpu_in_guest(): the core takes a notification itself */
bool busy;			/* it is taking one; nothing exits meanwhile */
bool virr;			/* requested in the virtual APIC */
bool woken;
bool unseen;			/* posted, and the guest's handler has not run since */
bool notified[CORES], wakes[CORES];	/* on the way to a core, or pending there */
byte posted, host_posted, moves;

inline send()
{
	if
	:: nv == NOTIFY -> notified[ndst] = true
	:: else -> wakes[ndst] = true
	fi
}

/* post() */
active proctype iommu()
{
	do
	:: posted < POSTS ->
		atomic {
			posted++;
			pir = 1;
			unseen = true;
			if
			:: !on && !sn ->
				if
				:: !POST_NO_ON -> on = 1
				:: else -> skip
				fi;
				send()
			:: else -> skip
			fi
		}
	:: else -> break
	od
}

inline host_post_on()
{
	atomic {
		if
		:: !on && !sn -> on = 1; send()
		:: else -> skip
		fi
	}
}

/* host_post() */
active proctype host()
{
	do
	:: host_posted < 1 ->
		host_posted++;
		if
		:: HOST_ON_FIRST -> host_post_on()
		:: else -> skip
		fi;
		atomic { pir = 1; unseen = true };
		if
		:: !HOST_ON_FIRST -> host_post_on()
		:: else -> skip
		fi
	:: else -> break
	od
}

inline take_pir()
{
	atomic {
		if
		:: pir -> pir = 0; virr = true
		:: else -> skip
		fi
	}
}

/* pid_take(): ON, then PIR. */
inline take()
{
	if
	:: TAKE_PIR_FIRST -> take_pir(); on = 0
	:: TAKE_KEEPS_ON -> take_pir()
	:: else -> on = 0; take_pir()
	fi
}

inline look_at_on()
{
	if
	:: on && !ENTER_NO_LOOK -> take()
	:: else -> skip
	fi
}

/* vcpu_enter(): in the guest, as far as a notification is concerned, before it looks. */
inline enter()
{
	if
	:: ENTER_LOOKS_FIRST -> look_at_on(); inside = true
	:: else -> inside = true; look_at_on()
	fi
}

/* cpu_deliver() and host_irq_arrive() on one core. */
proctype deliver(byte me)
{
end:	do
	:: atomic { notified[me] && inside && core == me && !busy -> notified[me] = false; busy = true }
		/* process_posted() */
		take();
		busy = false
	:: atomic { notified[me] && !(inside && core == me) -> notified[me] = false }
		/* a notification that came too late */
	:: atomic { wakes[me] -> wakes[me] = false;
		/* host_wakeup(); a vCPU that runs here exits, and enters again below */
		if
		:: state == HALTED && core == me && (WAKE_LOOKS_AT_PIR -> pir : on) -> woken = true
		:: else -> skip
		fi }
	od
}

inline vcpu_halt()
{
	inside = false;
	state = HALTED
}

inline halt_nv()
{
	atomic {
		if
		:: !HALT_KEEPS_NV -> nv = WAKEUP
		:: else -> skip
		fi;
		c_on = (HALT_LOOKS_FIRST -> c_on : on)
	}
}

/* After the guest executed HLT, with nothing requested: it is out already. */
inline host_vcpu_halt()
{
	c_on = on;
	if
	:: !HALT_STATE_LATE -> state = HALTED
	:: else -> skip
	fi;
	halt_nv();
	if
	:: HALT_NO_LOOK -> skip
	:: HALT_LOOKS_AT_BOTH && (c_on || pir) -> on = 1; wakes[core] = true
	:: !HALT_NO_LOOK && !HALT_LOOKS_AT_BOTH && c_on -> wakes[core] = true
	:: else -> skip
	fi;
	state = HALTED
}

inline look_at_pir()
{
	if
	:: RUN_NO_LOOK -> skip
	:: !RUN_NO_LOOK && (pir || RUN_ALWAYS_ON) -> on = 1
	:: else -> skip
	fi
}

inline host_vcpu_run()
{
	woken = false;
	if
	:: core = 0
	:: core = 1
	fi;
	if
	:: RUN_LOOKS_FIRST -> look_at_pir()
	:: else -> skip
	fi;
	atomic {
		nv = (RUN_KEEPS_NV -> nv : NOTIFY);
		ndst = (RUN_KEEPS_NDST -> ndst : core);
		sn = (RUN_KEEPS_SN -> sn : 0)
	};
	if
	:: !RUN_LOOKS_FIRST -> look_at_pir()
	:: else -> skip
	fi;
	state = RUNNING;	/* vcpu_run() */
	enter()
}

inline host_vcpu_preempt()
{
	if
	:: !PREEMPT_NO_SN -> sn = 1
	:: else -> skip
	fi;
	state = PREEMPTED
}

/* The guest, and the host's thread of its vCPU. */
proctype vcpu()
{
	bit c_on;

end:	do
	:: atomic { inside && virr && !busy -> virr = false; unseen = false }
	/* any trap: out and in again */
	:: atomic { inside && !busy && moves < MOVES -> moves++; inside = false }
		enter()
	/* the host takes the core */
	:: atomic { inside && !busy && moves < MOVES && !PREEMPT_SN_FIRST -> moves++; inside = false }
		host_vcpu_preempt()
	:: atomic { inside && !busy && moves < MOVES && PREEMPT_SN_FIRST -> moves++; sn = 1 }
		atomic { !busy -> inside = false };
		host_vcpu_preempt()
	/* vm_idle(): HLT, with nothing requested */
	:: atomic { inside && !busy && !virr && moves < MOVES -> moves++; inside = false }
		host_vcpu_halt()
	:: state == PREEMPTED -> host_vcpu_run()
	:: state == HALTED && woken -> host_vcpu_run()
	od
}

init {
	atomic {
		c_code { now.mutant = getenv("PROOF_MUTANT") ? (unsigned char)atoi(getenv("PROOF_MUTANT")) : 0; };
		run deliver(0);
		run deliver(1);
		run vcpu()
	}
	/* Nothing can move any more. */
	timeout;
	assert(!pir);
	assert(!virr);
	assert(!unseen);
	assert(state == HALTED || inside)
}
