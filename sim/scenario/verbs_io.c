// SPDX-License-Identifier: GPL-2.0
/*
 * Verbs that move data: requests of a guest's user through its driver, commands that a
 * guest's kernel puts into a queue as they stand, and waiting for them.
 */

#include "engine.h"
#include "store.h"

#include <stdlib.h>
#include <string.h>

#define SECTOR STORE_SECTOR_SIZE
#define REQUEST_BLOCKS_MAX 256u		/* 128 KiB */
#define NLB_MAX 0x10000u		/* what NLB can say */
#define RETRIES_MAX 100000u		/* of a full queue, 1 us apart */

static const char request_keys[] = "slba blocks queue tag data from into fua async timeout";

static void io_done(struct vm_io *vio)
{
	struct script_io *io = (struct script_io *)((char *)vio - offsetof(struct script_io, io));

	if (io->in_attack)
		judge_status(io->vm->run->judge, (u16)(vio->status & NVME_STATUS_CODE));
}

struct script_io *io_new(lua_State *L, struct script_vm *v)
{
	struct run *r = v->run;
	struct script_io *io;

	if (r->nr_ios == SCENARIO_IOS_MAX)
		luaL_error(L, "more than %d I/Os by verbs; use vm:workload{...} for load", SCENARIO_IOS_MAX);
	io = calloc(1, sizeof(*io));
	if (!io)
		luaL_error(L, "no memory for an I/O");
	io->vm = v;
	io->io.done = io_done;
	io->in_attack = r->attack_open && (r->attackers >> v->vm->cfg.id & 1);
	io->next = r->ios;
	r->ios = io;
	r->nr_ios++;
	return io;
}

/* PRPs of @bytes at @gpa as the device is to see them; a list goes to @list. Standing on the vCPU. */
static void put_prps(struct gvcpu *gv, u64 gpa, u64 bytes, u64 dma_offset, u64 list, struct nvme_sqe *sqe)
{
	u64 first = SPEC_PAGE_SIZE - gpa % SPEC_PAGE_SIZE, page, at;
	u32 i = 0;

	sqe->prp1 = gpa + dma_offset;
	sqe->prp2 = 0;
	if (bytes <= first)
		return;
	page = gpa + first;
	if (bytes - first <= SPEC_PAGE_SIZE) {
		sqe->prp2 = page + dma_offset;
		return;
	}
	sqe->prp2 = list + dma_offset;
	for (at = first; at < bytes; at += SPEC_PAGE_SIZE, page += SPEC_PAGE_SIZE, i++) {
		u64 entry = page + dma_offset;

		vm_store(gv, (gpa_t){ list + 8ull * i }, &entry, 8);
	}
}

static bool needs_list(u64 gpa, u64 bytes)
{
	return bytes > 2 * SPEC_PAGE_SIZE - gpa % SPEC_PAGE_SIZE;
}

static int submit(struct script_vm *v, u32 queue, struct nvme_sqe *sqe, struct vm_io *io)
{
	if (v->is_stock)
		return v->stock ? stock_submit(v->stock, queue, sqe, io) : -ENODEV;
	return vm_submit_raw(v->vm, queue, sqe, io);
}

struct request {
	enum liov_op op;
	u64 slba, blocks, queue, gpa, timeout;
	bool fua, async, unchecked;
};

static const u8 opcodes[] = {
	[LIOV_OP_READ] = NVME_CMD_READ, [LIOV_OP_WRITE] = NVME_CMD_WRITE, [LIOV_OP_FLUSH] = NVME_CMD_FLUSH,
	[LIOV_OP_WRITE_ZEROES] = NVME_CMD_WRITE_ZEROES, [LIOV_OP_DISCARD] = NVME_CMD_DSM, [LIOV_OP_COMPARE] = NVME_CMD_COMPARE,
};

static bool has_data(enum liov_op op)
{
	return op == LIOV_OP_READ || op == LIOV_OP_WRITE || op == LIOV_OP_COMPARE;
}

/* Of the data that there is; a request may claim more. */
static u64 data_bytes(const struct request *q)
{
	return (q->blocks < REQUEST_BLOCKS_MAX ? q->blocks : REQUEST_BLOCKS_MAX) * SECTOR;
}

/* Through the frontend's checks. */
static int request_checked(struct script_vm *v, const struct request *q, struct vm_io *io)
{
	struct liov_segment seg[LIOV_FE_SEGMENTS_MAX];
	struct liov_request rq = { .op = q->op, .slba = { q->slba }, .blocks = (u32)q->blocks, .fua = q->fua, .segments = seg };
	u64 at = q->gpa, left = data_bytes(q);

	/* More than there is room for: one range, as long as it claims to be. */
	if (has_data(q->op) && q->blocks > REQUEST_BLOCKS_MAX) {
		seg[rq.nr_segments++] = (struct liov_segment){ { at }, (u32)(q->blocks * SECTOR) };
		left = 0;
	}
	while (has_data(q->op) && left && rq.nr_segments < LIOV_FE_SEGMENTS_MAX) {
		u64 n = SPEC_PAGE_SIZE - at % SPEC_PAGE_SIZE;

		n = n < left ? n : left;
		seg[rq.nr_segments++] = (struct liov_segment){ { at }, (u32)n };
		at += n;
		left -= n;
	}
	return vm_submit(v->vm, (u32)q->queue - 1, &rq, io);
}

/* As the frontend would put it if it checked nothing; or the stock driver, which has nothing to check. */
static int request_unchecked(struct script_vm *v, const struct request *q, u64 list, struct gvcpu *gv, struct vm_io *io)
{
	struct liov_frontend *fe = v->is_stock ? NULL : v->vm->fe;
	u64 slba = q->slba + (fe ? fe->info.lba_start : 0);
	struct nvme_sqe sqe = { .opcode = opcodes[q->op], .nsid = v->vm->liov.nsid };

	if (q->op != LIOV_OP_FLUSH) {
		sqe.cdw10 = (u32)slba;
		sqe.cdw11 = (u32)(slba >> 32);
		sqe.cdw12 = (u32)((q->blocks - 1) & NVME_RW_NLB) | (q->fua ? (u32)NVME_RW_FUA : 0);
	}
	if (q->op != LIOV_OP_FLUSH && fe && (fe->info.flags & LIOV_INFO_PROTECTED)) {
		sqe.cdw12 |= (u32)NVME_RW_PRACT;
		sqe.cdw14 = (u32)slba;
	}
	if (has_data(q->op))
		put_prps(gv, q->gpa, data_bytes(q), fe ? fe->info.dma_offset : 0, list, &sqe);
	return submit(v, (u32)q->queue - 1, &sqe, io);
}

/* What a write carries goes into memory by the vCPU. */
static void put_data(lua_State *L, const struct args *a, struct script_vm *v, const struct request *q)
{
	u64 tag = args_u64(a, "tag", 0), i;
	const char *text = args_text(a, "data", NULL);
	struct stand s;
	size_t len = 0;
	u8 sector[SECTOR];

	if (text) {
		lua_pushliteral(L, "data");
		lua_rawget(L, a->table);
		len = lua_rawlen(L, -1);
		lua_pop(L, 1);
		if (len != q->blocks * SECTOR)
			luaL_error(L, "write: 'data' has %d bytes for %d blocks; give %d", (int)len, (int)q->blocks, (int)(q->blocks * SECTOR));
	}
	if (args_has(a, "from"))
		return;
	s = stand_on(L, v);
	for (i = 0; i < q->blocks; i++) {
		if (!text)
			store_tag_expand(secret_tag(v->run, v->vm->cfg.id, tag ? tag + i : 0), sector);
		vm_store(s.gv, (gpa_t){ q->gpa + i * SECTOR }, text ? (const u8 *)text + i * SECTOR : sector, SECTOR);
	}
	stand_off(&s);
}

static struct request read_request(lua_State *L, const struct args *a, struct script_vm *v, enum liov_op op)
{
	struct request q = {
		.op = op, .slba = args_u64(a, "slba", 0), .queue = args_range(a, "queue", 1, 1, LIOV_VM_QUEUES_MAX),
		.fua = args_bool(a, "fua", false), .async = args_bool(a, "async", false), .timeout = args_u64(a, "timeout", SCENARIO_WAIT_PS),
	};

	q.blocks = op == LIOV_OP_FLUSH ? 0 : args_range(a, "blocks", 1, 1, has_data(op) && op != LIOV_OP_READ ? REQUEST_BLOCKS_MAX : NLB_MAX);
	if (has_data(op) && q.blocks > REQUEST_BLOCKS_MAX && !args_has(a, "into"))
		luaL_error(L, "%s: data of more than %d blocks; give 'into', the address that is told for it", a->verb, (int)REQUEST_BLOCKS_MAX);
	if (has_data(op))
		q.gpa = args_has(a, "from") ? args_u64(a, "from", 0) : args_has(a, "into") ? args_u64(a, "into", 0) :
			guest_buffer(L, v, q.blocks * SECTOR);
	if (op == LIOV_OP_WRITE || op == LIOV_OP_COMPARE)
		put_data(L, a, v, &q);
	return q;
}

/* vm:read{ slba =, blocks =, ... } -> status, gpa of the data; with async = true an io, or the word of the refusal. */
static int request(lua_State *L, enum liov_op op, bool unchecked)
{
	struct script_vm *v = check_live_vm(L, 1);
	struct args a = args_open(L, 2, "request", request_keys);
	struct request q = read_request(L, &a, v, op);
	struct script_io *io = io_new(L, v);
	u64 list = needs_list(q.gpa, data_bytes(&q)) ? guest_buffer(L, v, SPEC_PAGE_SIZE) : 0;
	u32 retries = 0;
	struct stand s;
	bool done = false;
	int ret;

	if (op == LIOV_OP_DISCARD && (unchecked || v->is_stock))
		return luaL_error(L, "a discard past the frontend's checks; use vm:raw{ opcode = 0x09, ... }");
	s = stand_on(L, v);
	do {
		ret = unchecked || v->is_stock ? request_unchecked(v, &q, list, s.gv, &io->io) : request_checked(v, &q, &io->io);
		if (ret == -EAGAIN)
			task_sleep(PS_PER_US);
	} while (ret == -EAGAIN && retries++ < RETRIES_MAX);
	vm_pass(s.gv, 0);
	if (ret == 0 && !q.async)
		done = vm_io_wait(&io->io, q.timeout);
	stand_off(&s);
	if (ret < 0)
		push_status(L, ret);
	else if (q.async)
		object_push(L, "io", io);
	else if (!done)
		lua_pushliteral(L, "timeout");
	else
		push_status(L, io->io.status & NVME_STATUS_CODE);
	lua_pushinteger(L, (lua_Integer)q.gpa);
	return 2;
}

#define REQUEST(verb, op) static int vm_##verb(lua_State *L) { return request(L, op, false); }
REQUEST(read, LIOV_OP_READ)
REQUEST(write, LIOV_OP_WRITE)
REQUEST(flush, LIOV_OP_FLUSH)
REQUEST(write_zeroes, LIOV_OP_WRITE_ZEROES)
REQUEST(discard, LIOV_OP_DISCARD)
REQUEST(compare, LIOV_OP_COMPARE)

/*
 * A request of guest user space to an honest kernel. The frontend is credited under paper
 * only: elsewhere its checks count as absent, so what it would refuse is sent.
 */
static int vm_user(lua_State *L, enum liov_op op)
{
	return request(L, op, run_of(L)->policy != LIOV_POLICY_PAPER);
}

static int vm_user_read(lua_State *L)
{
	return vm_user(L, LIOV_OP_READ);
}

static int vm_user_write(lua_State *L)
{
	return vm_user(L, LIOV_OP_WRITE);
}

static int vm_unchecked_read(lua_State *L)
{
	return request(L, LIOV_OP_READ, true);
}

static int vm_unchecked_write(lua_State *L)
{
	return request(L, LIOV_OP_WRITE, true);
}

/*
 * vm:raw{ opcode =, slba =, nlb =, prp1 =, ... } -> io: exactly this goes into the queue. data =
 * gpa makes PRPs of contiguous memory for nlb + 1 blocks.
 */
static int vm_raw(lua_State *L)
{
	struct script_vm *v = check_live_vm(L, 1);
	struct args a = args_open(L, 2, "raw", "queue opcode flags nsid slba nlb mptr prp1 prp2 data cdw2 cdw3 cdw10 cdw11 cdw12 cdw13 cdw14 cdw15");
	u64 slba = args_u64(&a, "slba", 0), nlb = args_range(&a, "nlb", 0, 0, 0xFFFF), queue = args_range(&a, "queue", 1, 1, LIOV_VM_QUEUES_MAX);
	struct nvme_sqe sqe = {
		.opcode = (u8)args_need(&a, "opcode"), .flags = (u8)args_u64(&a, "flags", 0), .nsid = (u32)args_u64(&a, "nsid", v->vm->liov.nsid),
		.cdw2 = (u32)args_u64(&a, "cdw2", 0), .cdw3 = (u32)args_u64(&a, "cdw3", 0), .mptr = args_u64(&a, "mptr", 0),
		.prp1 = args_u64(&a, "prp1", 0), .prp2 = args_u64(&a, "prp2", 0),
		.cdw10 = (u32)args_u64(&a, "cdw10", (u32)slba), .cdw11 = (u32)args_u64(&a, "cdw11", slba >> 32),
		.cdw12 = (u32)args_u64(&a, "cdw12", nlb), .cdw13 = (u32)args_u64(&a, "cdw13", 0), .cdw14 = (u32)args_u64(&a, "cdw14", 0),
		.cdw15 = (u32)args_u64(&a, "cdw15", 0),
	};
	u64 data = args_u64(&a, "data", 0), bytes = (nlb + 1) * SECTOR, list = 0;
	struct script_io *io = io_new(L, v);
	struct stand s;
	int ret;

	if (args_has(&a, "data") && nlb >= REQUEST_BLOCKS_MAX)
		return luaL_error(L, "raw: 'data' makes PRPs for at most %d blocks; give prp1 and prp2", (int)REQUEST_BLOCKS_MAX);
	if (args_has(&a, "data") && needs_list(data, bytes))
		list = guest_buffer(L, v, SPEC_PAGE_SIZE);
	s = stand_on(L, v);
	if (args_has(&a, "data"))
		put_prps(s.gv, data, bytes, v->is_stock || !v->vm->fe ? 0 : v->vm->fe->info.dma_offset, list, &sqe);
	ret = submit(v, (u32)queue - 1, &sqe, &io->io);
	stand_off(&s);
	if (ret < 0) {
		lua_pushnil(L);
		push_status(L, ret);
		return 2;
	}
	object_push(L, "io", io);
	return 1;
}

/* io:wait([time]) -> status, or "timeout" */
/* From submission to completion, or nil before that. */
static int io_latency(lua_State *L)
{
	struct script_io *io = object_check(L, 1, "io");

	if (io->io.completed_ps)
		lua_pushinteger(L, (lua_Integer)(io->io.completed_ps - io->io.submitted_ps));
	else
		lua_pushnil(L);
	return 1;
}

static int io_wait(lua_State *L)
{
	struct script_io *io = object_check(L, 1, "io");

	if (vm_io_wait(&io->io, arg_u64_or(L, 2, "the time to wait", SCENARIO_WAIT_PS)))
		push_status(L, io->io.status & NVME_STATUS_CODE);
	else
		lua_pushliteral(L, "timeout");
	return 1;
}

static int io_fields(lua_State *L)
{
	struct script_io *io = object_test(L, 1, "io");
	const char *name = lua_tostring(L, 2);

	if (!io)
		return 0;
	if (strcmp(name, "completed") == 0)
		lua_pushboolean(L, io->io.completed);
	else if (strcmp(name, "latency") == 0)
		lua_pushinteger(L, (lua_Integer)(io->io.completed_ps - io->io.submitted_ps));
	else
		return 0;
	return 1;
}

void verbs_open_io(lua_State *L)
{
	static const luaL_Reg vm_verbs[] = {
		{ "read", vm_read }, { "write", vm_write }, { "flush", vm_flush }, { "write_zeroes", vm_write_zeroes },
		{ "discard", vm_discard }, { "compare", vm_compare }, { "user_read", vm_user_read }, { "user_write", vm_user_write },
		{ "unchecked_read", vm_unchecked_read }, { "unchecked_write", vm_unchecked_write }, { "raw", vm_raw }, { NULL, NULL }
	};
	static const luaL_Reg io_verbs[] = { { "wait", io_wait }, { "latency", io_latency }, { NULL, NULL } };

	object_verbs(L, "vm", vm_verbs);
	object_kind(L, "io", io_verbs, io_fields);
}
