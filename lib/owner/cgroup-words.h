/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Cgroup words: which unit, container and pod a control group is of, by its path
 *
 *      /system.slice/nginx.service/workers                         unit nginx.service
 *      /system.slice/docker-ID.scope                               and container ID
 *      /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope
 *                                                                  and pod UID
 *      /kubepods/burstable/podUID/ID    /docker/ID                 no unit
 *
 * The unit is the first behind the slices, or else the last slice, escapes as they are ("\x2d").  An ID is 64 hex
 * digits; of containers in one another the innermost counts.
 *
 * Source: systemd 252 src/basic/cgroup-util.c, cg_path_get_unit(), cg_unescape(); src/nspawn/nspawn-cgroup.c.
 * Names of scopes: docker and runc ("docker-ID.scope"), podman ("libpod-ID.scope"), containerd's CRI
 * ("cri-containerd-ID.scope"), CRI-O ("crio-ID.scope"), lxc 4 ("lxc.payload.NAME"); kubelet's cgroup_manager_linux.go.
 */

#include "base/cleanup.h"

#define CGROUP_WORD_MAX 256 /* with the 0 byte: a directory's name */
#define CONTAINER_ID_CHARS 64

/* Empty: there is none. */
typedef struct CgroupWords {
        char unit[CGROUP_WORD_MAX];
        char container[CGROUP_WORD_MAX]; /* its whole ID, or a name */
        char pod[CGROUP_WORD_MAX];       /* with "-" where a unit's name has "_" */
} CgroupWords;

/* @path: as /proc/PID/cgroup has it, hostile. */
void cgroup_words(const char *path, CgroupWords *ret);
bool container_is_id(const char *container);
