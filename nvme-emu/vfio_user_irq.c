// SPDX-License-Identifier: GPL-2.0
#include "vfio_user_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/*
 * MSI-X as VFIO has it: the client keeps the table, and says for each vector which eventfd its
 * message is. A vector without one, or masked, is closed: the device then keeps it pending.
 */

static bool is_open(const struct vfio_vector *v)
{
	return v->fd >= 0 && !v->masked;
}

static bool is_eventfd(int fd)
{
	char path[32], target[32];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = readlink(path, target, sizeof(target));
	return n == (ssize_t)strlen("anon_inode:[eventfd]") && !memcmp(target, "anon_inode:[eventfd]", (size_t)n);
}

/*
 * One whose counter the client filled makes the write wait, for as long as the client likes: it
 * shares the flag that says otherwise. The alarm (whose handler does nothing) ends that.
 */
static void signal_eventfd(struct vfio_user *u, int fd)
{
	static const struct itimerval patience = { { 0, 100000 }, { 0, 100000 } }, off;
	const u64 one = 1;

	setitimer(ITIMER_REAL, &patience, NULL);
	if (write(fd, &one, sizeof(one)) != sizeof(one) && errno != EAGAIN)
		vfio_user_end(u, "an eventfd of its does not take its interrupt: %s", strerror(errno));
	setitimer(ITIMER_REAL, &off, NULL);
}

void vfio_user_interrupt(struct vfio_guest *g, u32 vec)
{
	struct vfio_user *u = (struct vfio_user *)g;

	if (vec < u->dev->vectors && is_open(&u->vector[vec]) && !*u->why)
		signal_eventfd(u, u->vector[vec].fd);
}

/* Tells the device when that opens or closes it. */
static void change(struct vfio_user *u, u32 vec, struct vfio_vector to)
{
	struct vfio_vector was = u->vector[vec];

	u->vector[vec] = to;
	if (is_open(&was) != is_open(&to))
		u->dev->ops->vector(u->dev, vec, is_open(&to));
	if (was.fd >= 0 && was.fd != to.fd)
		close(was.fd);
}

void vfio_user_drop_irqs(struct vfio_user *u)
{
	for (u32 v = 0; v < u->dev->vectors; v++)
		change(u, v, (struct vfio_vector){ .fd = -1 });
}

/* As many eventfds as vectors, or none at all: those vectors have none any more. */
static int set_eventfds(struct vfio_user *u, const struct vfio_user_irq_set *s)
{
	if (u->nr_in_fds && u->nr_in_fds != s->count)
		return vfio_user_end(u, "%u eventfds for %u interrupts", u->nr_in_fds, s->count);
	for (u32 i = 0; i < u->nr_in_fds; i++)
		if (!is_eventfd(u->in_fd[i]))
			return vfio_user_end(u, "the file of an interrupt is no eventfd");
	for (u32 i = 0; i < s->count; i++) {
		struct vfio_vector v = u->vector[s->start + i];

		v.fd = vfio_user_take_fd(u);
		change(u, s->start + i, v);
	}
	return 0;
}

static void act(struct vfio_user *u, u32 action, u32 vec)
{
	struct vfio_vector v = u->vector[vec];

	if (action == VFIO_USER_SET_TRIGGER) {
		vfio_user_interrupt(&u->guest, vec);
		return;
	}
	v.masked = action == VFIO_USER_SET_MASK;
	change(u, vec, v);
}

int vfio_user_set_irqs(struct vfio_user *u, const struct vfio_user_irq_set *s, const u8 *data, u32 data_bytes)
{
	u32 type = s->flags & VFIO_USER_SET_DATA, action = s->flags & VFIO_USER_SET_ACTION;
	u32 vectors = s->index == VFIO_USER_IRQ_MSIX ? u->dev->vectors : 0;

	if (s->index >= VFIO_USER_IRQS || s->start > vectors || s->count > vectors - s->start ||
	    s->flags != (type | action) || data_bytes != (type == VFIO_USER_SET_BOOL ? s->count : 0))
		return vfio_user_end(u, "interrupts %u + %u of kind %u with flags 0x%x and %u bytes make no sense",
				     s->start, s->count, s->index, s->flags, data_bytes);
	if (type == VFIO_USER_SET_EVENTFD && action == VFIO_USER_SET_TRIGGER)
		return set_eventfds(u, s);
	if ((type != VFIO_USER_SET_NONE && type != VFIO_USER_SET_BOOL) ||
	    (action != VFIO_USER_SET_TRIGGER && action != VFIO_USER_SET_MASK && action != VFIO_USER_SET_UNMASK))
		return EINVAL;
	if (!s->count && type == VFIO_USER_SET_NONE && action == VFIO_USER_SET_TRIGGER && vectors)
		vfio_user_drop_irqs(u);
	for (u32 i = 0; i < s->count; i++)
		if (type == VFIO_USER_SET_NONE || data[i])
			act(u, action, s->start + i);
	return 0;
}
