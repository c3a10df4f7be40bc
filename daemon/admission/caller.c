/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * In a container processes have other numbers, and control groups other paths, than the kernel's and ours.  Which ones is
 * seen from outside, for nobody lets us look inside (/proc/PID/ns takes CAP_SYS_PTRACE): /proc/PID/status has a
 * process's numbers in all PID namespaces that it is in, the outermost first, and /proc/PID/mountinfo what is mounted
 * at its /sys/fs/cgroup.
 *
 * Two processes are in the same namespace if the topmost ancestors that have a number at its level are one, since a child
 * is in its parent's namespace or in one below (linux 6.1 kernel/pid_namespace.c, pidns_install()).  Who has entered
 * from outside, as `docker exec` does, is his own topmost: others are refused rather than guessed.
 */

#include <fcntl.h>
#include <inttypes.h>

#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "daemon/admission/admission.h"

#define LEVELS_MAX 33 /* MAX_PID_NS_LEVEL, linux 6.1 include/linux/pid_namespace.h, and the first */
#define ANCESTORS_MAX 10000
#define STATUS_MAX (64U << 10)
#define MOUNTINFO_MAX (4U << 20)
#define CGROUP_MOUNT "/sys/fs/cgroup"

typedef struct Numbers {
        uint64_t parent, own[LEVELS_MAX];
        size_t n; /* 0: a kernel without PID namespaces */
} Numbers;

static int read_numbers(int proc_fd, uint64_t pid, Numbers *ret) {
        _cleanup_free_ char *text = NULL;
        char path[64], *s, *end;
        Numbers found = {};
        int r;

        (void) snprintf(path, sizeof(path), "%" PRIu64 "/status", pid);
        r = file_read(proc_fd, path, &text, NULL, STATUS_MAX);
        if (r < 0)
                return r;
        s = strstr(text, "\nPPid:");
        if (!s || sscanf(s, "\nPPid: %" SCNu64, &found.parent) != 1)
                return ORIGIN(-EBADMSG);
        s = strstr(text, "\nNSpid:");
        for (s = s ? s + strlen("\nNSpid:") : s; s && found.n < LEVELS_MAX; s = end) {
                found.own[found.n] = strtoull(s, &end, 10);
                if (end == s || found.own[found.n] == 0)
                        break;
                found.n++;
                if (*end != '\t' && *end != ' ')
                        break;
        }
        *ret = found;
        return 0;
}

/* The topmost of @x and its ancestors that has a number at @level; 0: that cannot be told. */
static uint64_t find_topmost(int proc_fd, Numbers x, size_t level) {
        for (size_t i = 0; i < ANCESTORS_MAX; i++) {
                uint64_t pid = x.own[0];

                if (x.parent == 0)
                        return pid;
                if (read_numbers(proc_fd, x.parent, &x) < 0)
                        return 0;
                if (x.n <= level)
                        return pid;
        }
        return 0;
}

/* Puts the host's numbers into @ret where @pids has the caller's; the others stay "". */
static int find_pids(int proc_fd, const Numbers *caller, const Strv *pids, Strv *ret) {
        size_t level = caller->n - 1;
        uint64_t topmost = find_topmost(proc_fd, *caller, level), pid;
        _cleanup_(closedirp) DIR *d = NULL;
        struct dirent *e;
        int r = dir_list(&d, dir_open(proc_fd, "."));

        for (size_t i = 0; r >= 0 && i < pids->n; i++)
                r = strv_add(ret, "");
        while (r >= 0 && (e = readdir(d))) {
                char number[TASK_NUMBER_MAX];
                Numbers x;

                if (parse_u64(e->d_name, INT32_MAX, &pid) < 0 ||
                    read_numbers(proc_fd, pid, &x) < 0 || x.n <= level)
                        continue;
                (void) snprintf(number, sizeof(number), "%" PRIu64, x.own[level]);
                if (!strv_contains(pids, number) || topmost == 0 ||
                    find_topmost(proc_fd, x, level) != topmost)
                        continue;
                for (size_t i = 0; r >= 0 && i < pids->n; i++)
                        if (streq(pids->items[i], number))
                                r = strv_replace(ret, i, e->d_name);
        }
        return r;
}

static int translate_pids(int proc_fd, const Numbers *caller, Strv *pids, Refusal *refusal) {
        _cleanup_strv_ Strv here = {};
        int r = find_pids(proc_fd, caller, pids, &here);

        if (r < 0)
                return r;
        for (size_t i = 0; i < here.n; i++)
                if (!*here.items[i])
                        return refusal_set_of(
                                refusal, REFUSAL_INVALID_SPEC, "field", "pids",
                                "there is no process %s in your container (PID namespace), or it "
                                "came in by another way than you, and ftraced cannot tell it from "
                                "those of other containers. Ask on the host, with its number "
                                "there.",
                                pids->items[i]);
        strv_done(pids);
        *pids = TAKE(here, (Strv){});
        return 0;
}

/* What the kernel writes as \ooo: blanks, and the backslash itself (linux 6.1 fs/proc_namespace.c, mangle()). */
static void unmangle(char *s) {
        char *out = s;

        for (; *s; s++)
                if (*s == '\\' && strspn(s + 1, "01234567") >= 3) {
                        *out++ = (char) ((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
                        s += 3;
                } else
                        *out++ = *s;
        *out = 0;
}

/* Which group the caller's /sys/fs/cgroup is: "ID PARENT DEVICE ROOT MOUNT-POINT ...", the last there covers the others.
 * "" is the first group, also if nothing is mounted there; the caller frees.  0 or -errno. */
static int find_group_root(int proc_fd, pid_t caller, char **ret) {
        _cleanup_free_ char *text = NULL, *found = strdup("");
        char path[64], *save = NULL;
        int r;

        (void) snprintf(path, sizeof(path), "%i/mountinfo", (int) caller);
        r = found ? file_read(proc_fd, path, &text, NULL, MOUNTINFO_MAX) : -ENOMEM;
        for (char *line = r < 0 ? NULL : strtok_r(text, "\n", &save); line && r >= 0;
             line = strtok_r(NULL, "\n", &save)) {
                int at = 0, end = 0, point = 0;

                (void) sscanf(line, "%*s %*s %*s %n%*s%n %n", &at, &end, &point);
                if (point == 0 || !startswith(line + point, CGROUP_MOUNT " "))
                        continue;
                line[end] = 0;
                unmangle(line + at);
                r = text_replace(&found, strcmp(line + at, "/") != 0 ? line + at : "");
        }
        if (r >= 0)
                *ret = TAKE_PTR(found);
        return r;
}

static int translate_groups(int proc_fd, pid_t caller, Strv *groups, Refusal *refusal) {
        _cleanup_free_ char *root = NULL;
        int r = find_group_root(proc_fd, caller, &root);

        if (r < 0 || !*root)
                return r;
        for (size_t i = 0; r == 0 && i < groups->n; i++) {
                _cleanup_free_ char *path = NULL;

                r = text_format(&path, "%s/%s", root, task_group_below(groups->items[i]));
                if (r == 0 && !cgroup_path_is_valid(path))
                        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", "cgroups",
                                              "the control group \"%s\" of your container is below "
                                              "\"%s\": too long a path, or outside of what ftraced "
                                              "sees. Ask on the host, with its path there.",
                                              NAME_QUOTED(groups->items[i]), NAME_QUOTED(root));
                r = r ?: strv_replace(groups, i, path);
        }
        return r;
}

int caller_translate(const char *proc, pid_t caller, Strv *pids, Strv *groups, Refusal *refusal) {
        _cleanup_close_ int proc_fd = -EBADF;
        Numbers numbers = {};
        int r = 0;

        if ((!pids || pids->n == 0) && (!groups || groups->n == 0))
                return 0;
        proc_fd = dir_open(AT_FDCWD, proc);
        if (proc_fd < 0)
                return proc_fd;
        if (pids)
                r = read_numbers(proc_fd, (uint64_t) caller, &numbers);
        if (r == 0 && numbers.n > 1)
                r = translate_pids(proc_fd, &numbers, pids, refusal);
        if (r == 0 && groups)
                r = translate_groups(proc_fd, caller, groups, refusal);
        if (r >= 0)
                return r;
        return refusal_set_of(refusal, REFUSAL_INVALID_SPEC, "field", pids ? "pids" : "cgroups",
                              "%s/%i cannot be read (%s), so it is not known which processes and "
                              "control groups you mean. Record without --pid and --cgroup.",
                              proc, (int) caller, origin_text(r));
}
