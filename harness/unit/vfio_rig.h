/* SPDX-License-Identifier: GPL-2.0 */
#ifndef HARNESS_UNIT_VFIO_RIG_H
#define HARNESS_UNIT_VFIO_RIG_H

/*
 * A vfio-user client at the other end of a socketpair, in one thread with the session it talks
 * to. Structures and constants are those of linux/vfio.h; messages as QEMU's docs/interop/vfio-user.rst has them.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nvme-emu/vfio_user.h"

#define RIG_ROUNDS 10000	/* of the session, for a reply */
#define RIG_MESSAGE_MAX 8192

enum { CMD_VERSION = 1, CMD_DMA_MAP, CMD_DMA_UNMAP, CMD_INFO, CMD_REGION_INFO, CMD_REGION_IO_FDS, CMD_IRQ_INFO, CMD_SET_IRQS,
       CMD_REGION_READ, CMD_REGION_WRITE, CMD_DMA_READ, CMD_DMA_WRITE, CMD_RESET, CMD_DIRTY_PAGES, CMD_WRITE_MULTI };

#define FLAG_REPLY 1u
#define FLAG_NO_REPLY 0x10u
#define FLAG_ERROR 0x20u

struct rig_header {
	u16 id, command;
	u32 size, flags, error;
};

struct vfio_rig {
	struct vfio_user *u;		/* NULL: over */
	int fd;				/* the client's end */
	u16 id;
	char why[256];			/* it was over, if not just left */
	struct rig_header h;		/* the last reply */
	u8 reply[RIG_MESSAGE_MAX];
	u32 reply_bytes;
	int reply_fd;
};

static inline void rig_over(struct vfio_rig *r)
{
	const char *why = vfio_user_why(r->u);

	snprintf(r->why, sizeof(r->why), "%s", why ? why : "");
	vfio_user_free(r->u);
	r->u = NULL;
}

/* Let the session do what it can. */
static inline void rig_pump(struct vfio_rig *r)
{
	for (u32 i = 0; r->u && i < RIG_ROUNDS; i++) {
		struct pollfd p = { vfio_user_fd(r->u), vfio_user_events(r->u), 0 };

		if (poll(&p, 1, 0) <= 0)
			return;
		if (!vfio_user_ready(r->u))
			rig_over(r);
	}
}

static inline void rig_connect(struct vfio_rig *r, struct vfio_device *d)
{
	int sv[2];

	*r = (struct vfio_rig){ .reply_fd = -1 };
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv), 0);
	r->fd = sv[0];
	r->u = vfio_user_new(d, sv[1]);
	assert_non_null(r->u);
}

static inline void rig_leave(struct vfio_rig *r)
{
	close(r->fd);
	rig_pump(r);
	if (r->reply_fd >= 0)
		close(r->reply_fd);
	assert_null(r->u);
}

/* Raw bytes with files; false where the socket takes no more, or nobody is there. */
static inline bool rig_send_raw(struct vfio_rig *r, const void *bytes, size_t len, const int *fds, u32 nr_fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)bytes, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (nr_fds) {
		struct cmsghdr *c = &control.align;

		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(nr_fds * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nr_fds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nr_fds * sizeof(int));
	}
	return sendmsg(r->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)len;
}

static inline bool rig_send(struct vfio_rig *r, u16 command, u32 flags, const void *p, u32 bytes, const int *fds, u32 nr_fds)
{
	u8 m[RIG_MESSAGE_MAX];
	struct rig_header h = { ++r->id, command, (u32)sizeof(h) + bytes, flags, 0 };

	memcpy(m, &h, sizeof(h));
	if (bytes)
		memcpy(m + sizeof(h), p, bytes);
	return rig_send_raw(r, m, sizeof(h) + bytes, fds, nr_fds);
}

static inline bool rig_take(struct vfio_rig *r, void *to, size_t len)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = { to, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control) };
	struct cmsghdr *c;

	if (recvmsg(r->fd, &msg, MSG_DONTWAIT) != (ssize_t)len)
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (c) {
		if (r->reply_fd >= 0)
			close(r->reply_fd);
		memcpy(&r->reply_fd, CMSG_DATA(c), sizeof(int));
	}
	return true;
}

/* The next reply; false: none came, and the session may be over. */
static inline bool rig_reply(struct vfio_rig *r)
{
	rig_pump(r);
	if (!rig_take(r, &r->h, sizeof(r->h)))
		return false;
	r->reply_bytes = r->h.size - (u32)sizeof(r->h);
	assert_true(r->h.size >= sizeof(r->h) && r->reply_bytes <= sizeof(r->reply));
	return !r->reply_bytes || rig_take(r, r->reply, r->reply_bytes);
}

/* A command and its reply: 0, the errno it was answered with, or -1: the session is over. */
static inline int rig_call_fds(struct vfio_rig *r, u16 command, const void *p, u32 bytes, const int *fds, u32 nr_fds)
{
	if (!rig_send(r, command, 0, p, bytes, fds, nr_fds) || !rig_reply(r)) {
		assert_null(r->u);
		return -1;
	}
	assert_int_equal(r->h.id, r->id);
	assert_int_equal(r->h.command, command);
	assert_int_equal(r->h.flags & ~FLAG_ERROR, FLAG_REPLY);
	assert_int_equal(!!(r->h.flags & FLAG_ERROR), !!r->h.error);
	return (int)r->h.error;
}

static inline int rig_call(struct vfio_rig *r, u16 command, const void *p, u32 bytes)
{
	return rig_call_fds(r, command, p, bytes, NULL, 0);
}

static inline int rig_version(struct vfio_rig *r)
{
	/* As QEMU 11 says it. */
	static const char hello[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":1048576,"
				    "\"max_dma_maps\":65535,\"pgsizes\":4096,\"write_multiple\":true}}";

	return rig_call(r, CMD_VERSION, hello, sizeof(hello));
}

static inline void rig_start(struct vfio_rig *r, struct vfio_device *d)
{
	rig_connect(r, d);
	assert_int_equal(rig_version(r), 0);
}

struct rig_access {
	u64 off;
	u32 region, count;
	u8 data[4096];
};

static inline int rig_read(struct vfio_rig *r, u32 region, u64 off, void *to, u32 count)
{
	struct rig_access a = { off, region, count, { 0 } };
	int ret = rig_call(r, CMD_REGION_READ, &a, 16);

	if (!ret) {
		assert_int_equal(r->reply_bytes, 16 + count);
		assert_memory_equal(r->reply, &a, 16);
		memcpy(to, r->reply + 16, count);
	}
	return ret;
}

static inline int rig_write(struct vfio_rig *r, u32 region, u64 off, const void *from, u32 count)
{
	struct rig_access a = { off, region, count, { 0 } };
	int ret;

	memcpy(a.data, from, count);
	ret = rig_call(r, CMD_REGION_WRITE, &a, 16 + count);
	if (!ret) {
		assert_int_equal(r->reply_bytes, 16);
		assert_memory_equal(r->reply, &a, 16);
	}
	return ret;
}

struct rig_map {
	u32 argsz, flags;
	u64 offset, address, size;
};

static inline int rig_dma_map(struct vfio_rig *r, int fd, u64 offset, u64 address, u64 size, u32 flags)
{
	struct rig_map m = { sizeof(m), flags, offset, address, size };

	return rig_call_fds(r, CMD_DMA_MAP, &m, sizeof(m), &fd, fd >= 0);
}

static inline int rig_dma_unmap(struct vfio_rig *r, u64 address, u64 size, u32 flags)
{
	struct { u32 argsz, flags; u64 address, size; } m = { sizeof(m), flags, address, size };

	return rig_call(r, CMD_DMA_UNMAP, &m, sizeof(m));
}

static inline int rig_irqs(struct vfio_rig *r, u32 flags, u32 start, u32 count, const void *data, u32 bytes, const int *fds, u32 nr)
{
	u8 p[sizeof(struct vfio_irq_set) + 1024];
	struct vfio_irq_set s = { sizeof(s) + bytes, flags, VFIO_PCI_MSIX_IRQ_INDEX, start, count };

	memcpy(p, &s, sizeof(s));
	if (bytes)
		memcpy(p + sizeof(s), data, bytes);
	return rig_call_fds(r, CMD_SET_IRQS, p, (u32)sizeof(s) + bytes, fds, nr);
}

static inline u64 rig_eventfd_count(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	u64 n = 0;

	if (poll(&p, 1, 0) == 1)
		assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	return n;
}

/* Guest memory: a memfd, and where we see it. */
static inline int rig_memory(u64 size, u8 **at)
{
	int fd = memfd_create("guest", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	if (at) {
		*at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		assert_ptr_not_equal(*at, MAP_FAILED);
	}
	return fd;
}

static inline u32 rig_open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	u32 n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

#endif
