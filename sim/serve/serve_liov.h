/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SIM_SERVE_SERVE_LIOV_H
#define SIM_SERVE_SERVE_LIOV_H

/*
 * LightIOV's virtual devices for vfio-user clients (nvme-emu/serve.h): one simulated machine with its host and its
 * SSD; each socket is a VM of that host, whose memory and processors are the client's.
 */

struct serve_kind;

extern const struct serve_kind serve_mediated;

#endif
