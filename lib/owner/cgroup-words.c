/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each part of the path is compared with a table. */

#include "base/name.h"
#include "owner/cgroup-words.h"

static const struct {
        const char *parent; /* what the part above begins with; NULL: anything */
        const char *prefix, *suffix;
        bool is_id; /* what is between the two; else a name */
} containers[] = {
        { NULL, "docker-", ".scope", true },
        { NULL, "libpod-", ".scope", true },
        { NULL, "libpod-", "", true },
        { NULL, "cri-containerd-", ".scope", true },
        { NULL, "nerdctl-", ".scope", true },
        { NULL, "crio-", ".scope", true },
        { NULL, "crio-", "", true },
        { "docker", "", "", true },
        { "pod", "", "", true },
        { "kubepods", "", "", true },
        { NULL, "lxc.payload.", "", false },
        { "machine.slice", "machine-", ".scope", false },
        { "machine.slice", "systemd-nspawn@", ".service", false },
};

/* One with a control group. */
static const char *const unit_suffixes[] = { ".service", ".scope", ".socket", ".mount", ".swap" };

/* What is between @prefix and @suffix in @part: its length; 0: it is not like this. */
static size_t between(const char *part, const char *prefix, const char *suffix, const char **ret) {
        size_t n_prefix = strlen(prefix), n_suffix = strlen(suffix), n = strlen(part);

        if (n <= n_prefix + n_suffix || !startswith(part, prefix) ||
            !streq(part + n - n_suffix, suffix))
                return 0;
        *ret = part + n_prefix;
        return n - n_prefix - n_suffix;
}

static bool is_id(const char *s, size_t n) {
        return n == CONTAINER_ID_CHARS && strspn(s, "0123456789abcdef") >= n;
}

bool container_is_id(const char *container) {
        return is_id(container, strlen(container));
}

static void take(char ret[static CGROUP_WORD_MAX], const char *s, size_t n) {
        (void) snprintf(ret, CGROUP_WORD_MAX, "%.*s", (int) n, s);
}

static void find_container(const char *above, const char *part, CgroupWords *w) {
        for (size_t i = 0; i < ELEMENTSOF(containers); i++) {
                const char *parent = containers[i].parent, *s;
                size_t n = between(part, containers[i].prefix, containers[i].suffix, &s);

                if (n > 0 && (!parent || startswith(above, parent)) &&
                    (!containers[i].is_id || is_id(s, n))) {
                        take(w->container, s, n);
                        return;
                }
        }
}

/* "kubepods-burstable-podUID.slice" of systemd's driver, "podUID" below kubepods of the other. */
static void find_pod(const char *above, const char *part, CgroupWords *w) {
        const char *uid = startswith(part, "kubepods") ? strstr(part, "-pod") : NULL;
        size_t n = uid ? between(uid, "-pod", ".slice", &uid) : 0;

        if (n == 0 && (startswith(above, "kubepods") || streq(above, "burstable") ||
                       streq(above, "besteffort")))
                n = between(part, "pod", "", &uid);
        if (n == 0)
                return;
        take(w->pod, uid, n);
        for (char *c = w->pod; (c = strchr(c, '_'));)
                *c = '-';
}

static bool is_unit(const char *part) {
        const char *name;

        for (size_t i = 0; i < ELEMENTSOF(unit_suffixes); i++)
                if (between(part, "", unit_suffixes[i], &name) > 0)
                        return true;
        return false;
}

void cgroup_words(const char *path, CgroupWords *ret) {
        char above[CGROUP_WORD_MAX] = "", part[CGROUP_WORD_MAX];
        bool is_below_slices = false;

        *ret = (CgroupWords){};
        while (*(path += strspn(path, "/"))) {
                size_t n = strcspn(path, "/");
                const char *name, *unit = part;

                take(part, path, n);
                path += n;
                unit += *part ==
                        '_'; /* systemd puts it before what the kernel could mean by a file */
                if (!is_below_slices && between(unit, "", ".slice", &name) > 0)
                        strcpy(ret->unit, unit);
                else if (!is_below_slices) {
                        is_below_slices = true;
                        if (is_unit(unit))
                                strcpy(ret->unit, unit);
                }
                find_container(above, part, ret);
                find_pod(above, part, ret);
                strcpy(above, part);
        }
}
