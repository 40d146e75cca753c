// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include "vfio_user_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * The client's memory: what is mapped, in which file. Only files of a tmpfs (a memfd is one) are
 * taken: any other may keep a read waiting for as long as its owner likes, a FUSE file for one.
 */

#define FLAGS_KNOWN (VFIO_USER_DMA_READABLE | VFIO_USER_DMA_WRITEABLE)

/* Index of the first mapping that ends behind @addr. */
static u32 lower(const struct vfio_memory *m, u64 addr)
{
	u32 lo = 0, hi = m->nr;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (m->map[mid].addr + (m->map[mid].len_bytes - 1) < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct vfio_map *find(const struct vfio_memory *m, u64 addr, size_t len_bytes, u32 flag)
{
	u32 i = lower(m, addr);
	const struct vfio_map *map = &m->map[i];

	if (i == m->nr || addr < map->addr || len_bytes > map->len_bytes - (addr - map->addr))
		return NULL;
	return map->file && (map->flags & flag) ? map : NULL;
}

bool vfio_user_dma_read(struct vfio_guest *g, u64 addr, void *buf, size_t len_bytes)
{
	struct vfio_user *u = (struct vfio_user *)g;
	const struct vfio_map *map = find(&u->memory, addr, len_bytes, VFIO_USER_DMA_READABLE);

	return map && pread(map->file->fd, buf, len_bytes, (off_t)(map->offset + (addr - map->addr))) == (ssize_t)len_bytes;
}

/* A file that was truncated grows again, but not beyond what was mapped. */
bool vfio_user_dma_write(struct vfio_guest *g, u64 addr, const void *buf, size_t len_bytes)
{
	struct vfio_user *u = (struct vfio_user *)g;
	const struct vfio_map *map = find(&u->memory, addr, len_bytes, VFIO_USER_DMA_WRITEABLE);

	return map && pwrite(map->file->fd, buf, len_bytes, (off_t)(map->offset + (addr - map->addr))) == (ssize_t)len_bytes;
}

/* What the client may not do with its file we do not do for it. */
static bool may(int fd, bool write)
{
	int flags = fcntl(fd, F_GETFL), mode = flags & O_ACCMODE;

	return flags >= 0 && !(flags & O_PATH) && (mode == O_RDWR || (mode == O_RDONLY && !write));
}

static struct vfio_file *file_open(struct vfio_memory *m, int fd, const struct stat *st, bool write)
{
	struct vfio_file *f;
	char path[32];

	for (f = m->files; f; f = f->next) {
		if (f->device == st->st_dev && f->inode == st->st_ino && f->writable == write) {
			f->refs++;
			return f;
		}
	}
	errno = EMFILE;
	f = m->nr_files < VFIO_USER_FILES_MAX ? calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	*f = (struct vfio_file){ .device = st->st_dev, .inode = st->st_ino, .writable = write, .refs = 1 };
	f->fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	if (f->fd < 0) {
		free(f);
		return NULL;
	}
	f->next = m->files;
	m->files = f;
	m->nr_files++;
	return f;
}

static void file_close(struct vfio_memory *m, struct vfio_file *f)
{
	struct vfio_file **at = &m->files;

	if (!f || --f->refs)
		return;
	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	m->nr_files--;
	close(f->fd);
	free(f);
}

static int file_check(struct vfio_user *u, const struct vfio_user_dma_map *m, int fd, struct stat *st)
{
	struct statfs fs;

	if (fstat(fd, st) || fstatfs(fd, &fs) || !S_ISREG(st->st_mode) || fs.f_type != TMPFS_MAGIC)
		return vfio_user_end(u, "its memory is no memfd or other file of a tmpfs");
	if (!may(fd, m->flags & VFIO_USER_DMA_WRITEABLE))
		return vfio_user_end(u, "its memory's file is not open for what is mapped");
	if (m->offset > (u64)st->st_size || m->size_bytes > (u64)st->st_size - m->offset)
		return vfio_user_end(u, "its memory's file ends before what is mapped of it");
	return 0;
}

static bool make_room(struct vfio_memory *m)
{
	u32 room = m->room ? 2 * m->room : 32;
	struct vfio_map *more;

	if (m->nr < m->room)
		return true;
	more = m->nr < VFIO_USER_MAPS_MAX ? realloc(m->map, room * sizeof(*more)) : NULL;
	if (!more)
		return false;
	m->map = more;
	m->room = room;
	return true;
}

static int insert(struct vfio_user *u, const struct vfio_user_dma_map *m, int fd)
{
	struct vfio_memory *mem = &u->memory;
	struct vfio_map new = { m->address, m->size_bytes, m->offset, m->flags, NULL };
	u32 at = lower(mem, m->address);
	struct stat st;

	if (at < mem->nr && mem->map[at].addr <= m->address + (m->size_bytes - 1))
		return vfio_user_end(u, "mappings 0x%llx + 0x%llx and 0x%llx + 0x%llx overlap",
				     (unsigned long long)m->address, (unsigned long long)m->size_bytes,
				     (unsigned long long)mem->map[at].addr, (unsigned long long)mem->map[at].len_bytes);
	if (!make_room(mem))
		return vfio_user_end(u, "more than %u mappings", VFIO_USER_MAPS_MAX);
	if (fd >= 0) {
		if (file_check(u, m, fd, &st))
			return -1;
		new.file = file_open(mem, fd, &st, m->flags & VFIO_USER_DMA_WRITEABLE);
		if (!new.file)
			return vfio_user_end(u, "its memory's file cannot be opened: %s", strerror(errno));
		if (u->dev->ops->map && !u->dev->ops->map(u->dev, m->address, m->size_bytes)) {
			file_close(mem, new.file);
			return vfio_user_end(u, "the device has no place for memory at 0x%llx + 0x%llx",
					     (unsigned long long)m->address, (unsigned long long)m->size_bytes);
		}
	}
	memmove(&mem->map[at + 1], &mem->map[at], (mem->nr - at) * sizeof(new));
	mem->map[at] = new;
	mem->nr++;
	return 0;
}

int vfio_user_map(struct vfio_user *u, const struct vfio_user_dma_map *m)
{
	int fd, ret;

	if ((m->address | m->size_bytes | m->offset) % SPEC_PAGE_SIZE || !m->size_bytes ||
	    m->address + (m->size_bytes - 1) < m->address || m->flags & ~FLAGS_KNOWN || m->offset >> 62)
		return vfio_user_end(u, "a mapping of 0x%llx + 0x%llx from 0x%llx with flags 0x%x makes no sense",
				     (unsigned long long)m->address, (unsigned long long)m->size_bytes,
				     (unsigned long long)m->offset, m->flags);
	fd = vfio_user_take_fd(u);
	ret = insert(u, m, fd);
	if (fd >= 0)
		close(fd);
	return ret;
}

/* Mappings [from, to) go. */
static void remove_maps(struct vfio_user *u, u32 from, u32 to)
{
	struct vfio_memory *m = &u->memory;

	for (u32 i = from; i < to; i++) {
		if (m->map[i].file && u->dev->ops->unmap)
			u->dev->ops->unmap(u->dev, m->map[i].addr, m->map[i].len_bytes);
		file_close(m, m->map[i].file);
	}
	if (to > from)
		memmove(&m->map[from], &m->map[to], (m->nr - to) * sizeof(m->map[0]));
	m->nr -= to - from;
}

/* All that lies in the range goes, be it nothing; a part of a mapping cannot (VFIO type 1, version 2). */
int vfio_user_unmap(struct vfio_user *u, const struct vfio_user_dma_unmap *m)
{
	struct vfio_memory *mem = &u->memory;
	u64 last = m->address + (m->size_bytes - 1);
	u32 from, to;

	if (m->flags & VFIO_USER_UNMAP_DIRTY)
		return EOPNOTSUPP;
	if (m->flags == VFIO_USER_UNMAP_ALL && !m->address && !m->size_bytes) {
		remove_maps(u, 0, mem->nr);
		return 0;
	}
	if (m->flags || !m->size_bytes || last < m->address)
		return vfio_user_end(u, "unmapping 0x%llx + 0x%llx with flags 0x%x makes no sense",
				     (unsigned long long)m->address, (unsigned long long)m->size_bytes, m->flags);
	from = lower(mem, m->address);
	for (to = from; to < mem->nr && mem->map[to].addr <= last; to++)
		if (mem->map[to].addr < m->address || mem->map[to].addr + (mem->map[to].len_bytes - 1) > last)
			return EINVAL;
	remove_maps(u, from, to);
	return 0;
}

void vfio_user_unmap_all(struct vfio_user *u)
{
	remove_maps(u, 0, u->memory.nr);
	free(u->memory.map);
}
