// SPDX-License-Identifier: GPL-2.0
/*
 * An ioengine for fio: a job is a process of a VM that reads and writes its LightIOV device, on the
 * modelled machine and by its clock. Built against the headers of the fio that it is for.
 */
#include "fio.h"
#include "optgroup.h"
#include "verify.h"

#include "world.h"

#include <dlfcn.h>

#define SECTOR 512u

/* Absent where the library is loaded into what is not fio: LD_PRELOAD is inherited. */
#pragma weak fio_clock_source
#pragma weak thread_number

struct options {
	void *pad;			/* fio's */
	unsigned int policy, vms, servers, guest_cpu_ns;
	unsigned long long medium_us;
};

#define OPTION(n, l, t, f, d, h, ...) { .name = n, .lname = l, .type = t, .off1 = offsetof(struct options, f), \
	.def = d, .help = h, .category = FIO_OPT_C_ENGINE, .group = FIO_OPT_G_INVALID, ##__VA_ARGS__ }

static struct fio_option options[] = {
	OPTION("policy", "LightIOV's policy", FIO_OPT_STR, policy, "paper", "Who checks what a VM asks for", .posval = {
		{ .ival = "paper", .oval = 0, .help = "The VM's own frontend" },
		{ .ival = "mediated", .oval = 1, .help = "The host, on private copies" },
		{ .ival = "nrd", .oval = 2, .help = "The controller: a resource domain a queue" },
		{ .ival = "siov", .oval = 3, .help = "The IOMMU by PASID, and a namespace a VM" },
	}),
	OPTION("vms", "VMs", FIO_OPT_INT, vms, "1", "VMs on the SSD, to which the jobs are dealt in turn, a queue each; at most 8 jobs to a VM"),
	OPTION("medium", "Fixed medium", FIO_OPT_STR_VAL_TIME, medium_us, "0", "Reads and writes take so long (microseconds) and nothing else costs time; 0: the modelled P4510"),
	OPTION("servers", "Servers", FIO_OPT_INT, servers, "1", "I/Os at a time of a fixed medium"),
	OPTION("guest_cpu", "Guest's CPU", FIO_OPT_INT, guest_cpu_ns, "0", "What an I/O costs the VM's core, in nanoseconds"),
	{ .name = NULL },
};

static struct thread_data *jobs[WORLD_JOBS_MAX];
static struct world_options machine;
static unsigned int nr_jobs;

static int refuse(struct thread_data *td, const char *why)
{
	log_err("lightiov: %s: %s\n", td->o.name, why);
	td_verror(td, EINVAL, "lightiov");
	return 1;
}

static int refuse_without_clock(struct thread_data *td)
{
	Dl_info self;

	log_err("lightiov: fio has to be started with LD_PRELOAD=%s, or its clock is not the machine's\n",
		dladdr(&options, &self) ? self.dli_fname : "this library");
	td_verror(td, EINVAL, "lightiov");
	return 1;
}

/* In fio's main thread, for all jobs, before the first is started. */
static int lightiov_setup(struct thread_data *td)
{
	const struct options *eo = td->eo;
	struct world_options o = { (int)eo->policy, eo->vms, eo->medium_us * 1000, eo->servers };
	unsigned int bytes = (unsigned int)max(td->o.max_bs[DDIR_READ], td->o.max_bs[DDIR_WRITE]);
	struct fio_file *f;
	unsigned int i;

	if (!clock_is_ours())
		return refuse_without_clock(td);
	if (!eo->vms || eo->vms > WORLD_JOBS_MAX || !eo->servers)
		return refuse(td, "vms is 1 to 64, servers at least 1");
	if (thread_number > 1 && !td->o.use_thread)
		return refuse(td, "jobs share a machine and its clock only as threads: add --thread");
	if (nr_jobs && memcmp(&o, &machine, sizeof(o)))
		return refuse(td, "policy, vms, medium and servers are the machine's: the same for all jobs");
	machine = o;
	td->io_ops_data = world_job_add(&o, td->o.iodepth, bytes, eo->guest_cpu_ns);
	if (!td->io_ops_data)
		return refuse(td, "at most 64 jobs, 8 to a VM (vms), of an iodepth of at most 1023");
	jobs[nr_jobs++] = td;
	fio_clock_source = CS_CGETTIME;
	for_each_file(td, f, i)
		f->real_file_size = world_job_bytes();
	return 0;
}

/* A job that fio has made and that has not come to init(): they begin together. */
static bool is_expected(void)
{
	for (unsigned int i = 0; i < nr_jobs; i++)
		if (jobs[i] && jobs[i]->runstate >= TD_CREATED && jobs[i]->runstate < TD_FINISHING)
			return true;
	return false;
}

static void forget(const struct thread_data *td)
{
	for (unsigned int i = 0; i < nr_jobs; i++)
		if (jobs[i] == td)
			jobs[i] = NULL;
}

static int lightiov_init(struct thread_data *td)
{
	const char *error;

	if (!td->io_ops_data)
		return refuse(td, "fio has to set up its files first: create_serialize=1");
	error = world_job_start(td->io_ops_data, is_expected);
	forget(td);
	if (error)
		td_verror(td, EIO, "lightiov");
	return error != NULL;
}

static void lightiov_cleanup(struct thread_data *td)
{
	if (td->io_ops_data)
		world_job_stop(td->io_ops_data);
}

static enum fio_q_status lightiov_queue(struct thread_data *td, struct io_u *io_u)
{
	static const enum world_op op[] = {
		[DDIR_READ] = WORLD_READ, [DDIR_WRITE] = WORLD_WRITE, [DDIR_TRIM] = WORLD_DISCARD,
		[DDIR_SYNC] = WORLD_FLUSH, [DDIR_DATASYNC] = WORLD_FLUSH,
	};
	struct world_io io = { .offset = io_u->offset, .len = (uint32_t)io_u->xfer_buflen, .cookie = io_u };

	fio_ro_check(td, io_u);
	if (io_u->ddir > DDIR_DATASYNC || (io.offset | io.len) % SECTOR) {
		io_u->error = EINVAL;
		return FIO_Q_COMPLETED;
	}
	io.op = op[io_u->ddir];
	if (!ddir_rw(io_u->ddir))
		io.offset = io.len = 0;
	/* Without verify= nobody looks at the content, and it stays out of the machine. */
	if (td->o.verify != VERIFY_NONE && io_u->ddir != DDIR_TRIM)
		io.data = io_u->xfer_buf;
	return world_submit(td->io_ops_data, &io) ? FIO_Q_QUEUED : FIO_Q_BUSY;
}

static int lightiov_getevents(struct thread_data *td, unsigned int min, unsigned int max, const struct timespec *t)
{
	uint64_t timeout = t ? (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec : WORLD_FOREVER;
	int n = world_wait(td->io_ops_data, min, max, timeout);

	return n < 0 ? -EIO : n;
}

static struct io_u *lightiov_event(struct thread_data *td, int i)
{
	const struct world_io *io = world_taken(td->io_ops_data, (uint32_t)i);
	struct io_u *io_u = io->cookie;

	io_u->error = (unsigned int)io->error;
	io_u->resid = 0;
	return io_u;
}

static int lightiov_open(struct thread_data *td, struct fio_file *f)
{
	(void)td;
	(void)f;
	return 0;
}

__attribute__((visibility("default"))) struct ioengine_ops ioengine = {
	.name = "lightiov",
	.version = FIO_IOOPS_VERSION,
	.flags = FIO_DISKLESSIO | FIO_NOEXTEND | FIO_NODISKUTIL | FIO_NO_OFFLOAD,
	.setup = lightiov_setup,
	.init = lightiov_init,
	.cleanup = lightiov_cleanup,
	.queue = lightiov_queue,
	.getevents = lightiov_getevents,
	.event = lightiov_event,
	.open_file = lightiov_open,
	.close_file = lightiov_open,
	.option_struct_size = sizeof(struct options),
	.options = options,
};
