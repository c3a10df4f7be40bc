/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The kernel keeps 128 names unless told otherwise, and is asked at a context switch only. */

#include "base/array.h"
#include "base/hash.h"
#include "decode/tasks.h"

typedef char Comm[TASK_COMM_BYTES];

struct Tasks {
        Comm *comms;
        size_t n_comms;
        Hash by_pid; /* index + 1 */
};

/* "PID COMM", @n bytes without the newline. */
static bool parse_task(const char *line, size_t n, uint64_t *ret_pid, Comm *ret) {
        uint64_t pid = 0;
        size_t i = 0, n_comm;

        for (; i < n && line[i] >= '0' && line[i] <= '9'; i++) {
                pid = pid * 10 + (uint64_t) (line[i] - '0');
                if (pid > INT32_MAX)
                        return false;
        }
        if (i == 0 || i >= n || line[i] != ' ')
                return false;
        i++;
        n_comm = MIN(n - i, sizeof(*ret) - 1);
        memcpy(*ret, line + i, n_comm);
        (*ret)[n_comm] = 0;
        *ret_pid = pid;
        return true;
}

int tasks_new(Tasks **ret, const char *text) {
        _cleanup_(tasks_freep) Tasks *t = calloc(1, sizeof(*t));

        if (!t)
                return -ENOMEM;
        for (const char *line = text; line && *line;) {
                size_t n = strcspn(line, "\n");
                uint64_t pid;

                if (!ARRAY_GROW(t->comms, t->n_comms))
                        return -ENOMEM;
                /* Of two lines for one pid the later counts. */
                if (parse_task(line, n, &pid, &t->comms[t->n_comms]) &&
                    hash_set(&t->by_pid, pid, ++t->n_comms) < 0)
                        return -ENOMEM;
                line += n + (line[n] == '\n');
        }
        *ret = TAKE_PTR(t);
        return 0;
}

const char *tasks_comm(const Tasks *t, int32_t pid) {
        uint64_t i;

        if (pid == 0)
                return "<idle>";
        if (pid < 0)
                return "<XXX>";
        i = hash_get(&t->by_pid, (uint64_t) pid);
        return i > 0 ? t->comms[i - 1] : "<...>";
}

Tasks *tasks_free(Tasks *t) {
        if (!t)
                return NULL;
        free(t->comms);
        hash_done(&t->by_pid);
        return mfree(t);
}
