/*
 * SPDX-License-Identifier: GPL-2.0
 *
 * The end of a VM: its hardware queue is taken back while its guest goes on, commands, DMA writes and
 * interrupts are on their way, and a neighbour's queue in the same domain names the same IOVA. The order is
 * that of kernel/core; what the code does again later (mask, unpost, revoke) stands where it is done first.
 *
 *    0 HIDE     vm_hide() (teardown.c)              liov_backend_page() answers nothing
 *    1 CLOSE    liov_hwq_set_closed() (hwq.c)       the same for this queue
 *    2 MASK     liov_hwq_mask(): port_irq_mask_sync()
 *    3 UNPOST   liov_hwq_unpost(): irte_remapped() (sim/host/irq.c)
 *    4 IEC      irte_flush(): the cached entry goes, and interrupts that were posted by it have landed
 *    5 REVOKE   vm_revoke() (vmqueue.c): host_ept_unmap() (sim/host/ept.c), the entry
 *    6 FLUSH    cpu_invept() in it
 *    7 DELSQ    liov_hwq_delete_sq(); where the controller does not answer hwq_quarantine()
 *    8 DELCQ    liov_hwq_delete_cq()
 *    9 UNMAP    liov_vm_mem_release_all() (memory.c): port_iommu_unmap()
 *   10 SYNC     port_iommu_sync(): cached translations go, and writes they let through have landed
 *   11 UNPIN    port_vm_mem_unpin(): the frames are anybody's
 *   12 DROP     vm_queue_drop(): liov_hwq_release() with port_irq_free(), or the queue forgets its VM
 *   13 QUNMAP   hwq_unmap(), of the queue's own memory
 *   14 QSYNC    ... and port_iommu_sync()
 *   15 ZERO     port_shm_zero() in hwq_put_memory()
 *   16 PUT      port_pages_put(); LIOV_HWQ_FREE: memory and queue id are anybody's
 *   17 NUMBERS  vm_numbers_release(): LBAs to the pool, or to a grave
 *   18 GONE     the caller frees the VM: its structures, its vCPUs' descriptors
 *   19 WIPE     liov_wipe() for the next owner of the LBAs (liov_vm_create(), backend.c)
 *   20 GIVE     ... who has them now
 *
 * PROOF_SKIP=k in the environment leaves step k out, PROOF_SWAP=k exchanges it with the next, PROOF_MUTANT
 * chooses one of the changes below. harness/proof/spin.expected says what each must lead to.
 */

c_code {
	extern char *getenv(const char *);
	extern int atoi(const char *);
	static unsigned char choice(const char *name) { return getenv(name) ? (unsigned char)atoi(getenv(name)) : 255; }
}

#define STEPS	21
#define SLOTS	2	/* commands in flight; the last of what is beside them is the neighbour's */
#define RINGS	2

#define NEVER_CLOSED	(mutant == 1)	/* neither HIDE nor CLOSE */
#define ANSWER_LATE	(mutant == 2)	/* the home maps what it was answered before the revocation */
#define SYNC_NO_WAIT	(mutant == 3)	/* port_iommu_sync() does not wait for writes */
#define IEC_NO_WAIT	(mutant == 4)	/* irte_flush() does not wait for interrupts */
#define TRUST_DELETE	(mutant == 5)	/* a deletion that timed out is believed */
#define NO_GRAVE	(mutant == 6)	/* an unquiet VM's LBAs go to the pool */
#define PUT_UNQUIET	(mutant == 7)	/* a quarantined queue's memory goes back */
#define KEEPS_VM	(mutant == 8)	/* a quarantined queue does not forget its VM, and is not masked */
#define NEVER_TIMES_OUT	(mutant == 9)	/* the controller always answers */

bool live = true, closed;		/* what liov_backend_page() looks at */
bool answered;				/* with ANSWER_LATE */
bool ept, tlb;				/* doorbell and queue pages in the guest; what its TLB holds */
bool masked;
bool irte = true, iec;			/* posted to the VM; cached so */
bool handler = true, handler_vm = true;	/* hwq_irq() is requested; q->vm */
bool sq = true, cq = true, quarantined;
bool iova = true, iotlb;		/* the VM's memory; cached */
bool qiova = true, qiotlb;		/* the queue's */
bool frames_free, queue_free, pooled, given, gone, finished;
bool dirty_queue = true, dirty_blocks = true;
byte queued, inflight, rings, strays;
bool data[3], cqe[3];			/* let through, not in memory yet */
byte msi[SLOTS];			/* 1 sent, 2 found its entry posted */
byte mutant, skip_step, swap_step;
byte order[STEPS];

/* What must not happen. */
bool doorbell_of_next_owner, page_of_next_owner, dma_to_next_owner, completion_to_next_owner,
     completion_to_no_queue, interrupt_to_gone_vm, handler_of_gone_vm, blocks_of_next_owner, residue_in_queue,
     residue_in_blocks, cq_deleted_before_sq, queue_left_alive, lost;

inline must_not(what, when)
{
	what = (when);
	assert(!what)
}

active proctype guest()
{
end:	do
	/* A first touch: liov_backend_page() */
	:: atomic { !ANSWER_LATE && !ept && live && !closed && sq -> ept = true }
	:: atomic { ANSWER_LATE && !ept && !answered && live && !closed && sq -> answered = true }
	:: atomic { answered -> answered = false; ept = true }
	:: atomic { ept && !tlb -> tlb = true }
	/* A store to the queue's page, and to its doorbell. */
	:: atomic { tlb && rings < RINGS -> rings++;
		must_not(page_of_next_owner, queue_free);
		must_not(doorbell_of_next_owner, queue_free);
		dirty_queue = true;
		if
		:: sq && queued < 2 -> queued++
		:: else -> skip
		fi }
	od
}

/* The controller, one command at a time; it may go on after a deletion that was given up. */
proctype slot(byte id)
{
end:	do
	:: atomic { sq && queued > 0 && !data[id] && !cqe[id] && msi[id] == 0 -> queued--; inflight++ }
		atomic {
			must_not(dma_to_next_owner, pooled);	/* its IOVAs are another's */
			if
			:: iova || iotlb -> iotlb = true; data[id] = true
			:: else -> skip		/* a blocked write is dropped */
			fi
		}
		atomic { must_not(blocks_of_next_owner, given); dirty_blocks = true }
		atomic {
			must_not(completion_to_no_queue, !cq);
			must_not(completion_to_next_owner, queue_free);
			if
			:: qiova || qiotlb -> qiotlb = true; cqe[id] = true
			:: else -> skip
			fi
		}
		atomic {
			if
			:: !masked -> msi[id] = 1
			:: else -> skip		/* pending in the controller */
			fi;
			inflight--
		}
	od
}

/* Between controller and memory: data may land after the completion (relaxed ordering). */
proctype fabric(byte id)
{
end:	do
	:: atomic { data[id] -> data[id] = false; must_not(dma_to_next_owner, frames_free) }
	:: atomic { cqe[id] -> cqe[id] = false; must_not(completion_to_next_owner, queue_free); dirty_queue = true }
	:: atomic { id < SLOTS && msi[id % SLOTS] == 1 ->
		if
		:: irte || iec -> iec = true; msi[id % SLOTS] = 2
		:: else -> msi[id % SLOTS] = 0;	/* to the host: hwq_irq() */
			must_not(handler_of_gone_vm, handler && handler_vm && gone)
		fi }
	:: atomic { id < SLOTS && msi[id % SLOTS] == 2 -> msi[id % SLOTS] = 0; must_not(interrupt_to_gone_vm, gone) }
	od
}

/* One function, one domain: a neighbour's raw PRP names the VM's memory, or its queue's. */
active proctype neighbour()
{
end:	do
	:: atomic { (iova || iotlb) && !data[2] && strays < 1 -> strays++; iotlb = true; data[2] = true }
	:: atomic { (qiova || qiotlb) && !cqe[2] && strays < 1 -> strays++; qiotlb = true; cqe[2] = true }
	od
}

inline delete_sq()
{
	atomic { sq = false; queued = 0 }
	if
	:: inflight == 0
	:: !NEVER_TIMES_OUT && inflight > 0 ->
		if
		:: !TRUST_DELETE -> quarantined = true
		:: else -> skip
		fi
	fi
}

inline delete_cq()
{
	atomic {
		if
		:: !quarantined -> must_not(cq_deleted_before_sq, sq); cq = false
		:: else -> skip
		fi
	}
}

inline put()
{
	atomic {
		if
		:: !quarantined || PUT_UNQUIET ->
			must_not(residue_in_queue, dirty_queue);
			must_not(queue_left_alive, (sq || cq) && !quarantined);
			queue_free = true
		:: else -> skip
		fi
	}
}

inline give()
{
	atomic {
		if
		:: pooled -> must_not(residue_in_blocks, dirty_blocks); given = true
		:: else -> skip
		fi
	}
}

inline step(k)
{
	if
	:: k == 0 -> live = (NEVER_CLOSED -> live : false)
	:: k == 1 -> closed = !NEVER_CLOSED
	:: k == 2 -> masked = true
	:: k == 3 -> irte = false
	:: k == 4 -> iec = false; (IEC_NO_WAIT || (msi[0] != 2 && msi[1] != 2))
	:: k == 5 -> ept = false
	:: k == 6 -> tlb = false
	:: k == 7 -> delete_sq()
	:: k == 8 -> delete_cq()
	:: k == 9 -> iova = false
	:: k == 10 -> iotlb = false; (SYNC_NO_WAIT || (!data[0] && !data[1] && !data[2]))
	:: k == 11 -> frames_free = true
	:: k == 12 ->
		atomic {
			handler = quarantined;
			handler_vm = (quarantined && KEEPS_VM);
			masked = (quarantined && KEEPS_VM -> false : masked)
		}
	:: k == 13 -> qiova = (quarantined && !PUT_UNQUIET -> qiova : false)
	:: k == 14 -> qiotlb = (quarantined && !PUT_UNQUIET -> qiotlb : false);
		(SYNC_NO_WAIT || (quarantined && !PUT_UNQUIET) || (!cqe[0] && !cqe[1] && !cqe[2]))
	:: k == 15 -> dirty_queue = (quarantined && !PUT_UNQUIET -> dirty_queue : false)
	:: k == 16 -> put()
	:: k == 17 -> pooled = (!quarantined || NO_GRAVE)
	:: k == 18 -> gone = true
	:: k == 19 -> dirty_blocks = (pooled -> false : dirty_blocks)
	:: k == 20 -> give()
	:: k == STEPS -> skip
	fi
}

init {
	byte i, t;

	atomic {
		c_code {
			now.mutant = choice("PROOF_MUTANT");
			now.skip_step = choice("PROOF_SKIP");
			now.swap_step = choice("PROOF_SWAP");
		};
		do
		:: i < STEPS -> order[i] = (i == skip_step -> STEPS : i); i++
		:: else -> break
		od;
		if
		:: swap_step < STEPS - 1 ->
			t = order[swap_step];
			order[swap_step] = order[swap_step + 1];
			order[swap_step + 1] = t
		:: else -> skip
		fi;
		i = 0; t = 0;
		run slot(0); run slot(1); run fabric(0); run fabric(1); run fabric(2)
	}
	do
	:: i < STEPS -> step(order[i]); i++
	:: else -> break
	od;
	must_not(lost, !frames_free || !gone || !quarantined && (!queue_free || !given));
	finished = true
}
