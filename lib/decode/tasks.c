/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* A sorted array: the kernel keeps 128 names unless told otherwise, and is asked at a context
 * switch only. */

#include <stdbool.h>

#include "base/grow.h"
#include "decode/tasks.h"

typedef struct Task {
        int32_t pid;
        uint32_t line; /* of two lines for one pid the later counts */
        char comm[TASK_COMM_BYTES];
} Task;

struct Tasks {
        Task *tasks;
        size_t n_tasks;
};

static int compare_tasks(const void *pa, const void *pb) {
        const Task *a = pa, *b = pb;

        if (a->pid != b->pid)
                return a->pid < b->pid ? -1 : 1;
        return a->line < b->line ? -1 : a->line > b->line;
}

/* "PID COMM", @n bytes without the newline. */
static bool parse_task(const char *line, size_t n, Task *ret) {
        int64_t pid = 0;
        size_t i = 0, n_comm;

        for (; i < n && line[i] >= '0' && line[i] <= '9'; i++) {
                pid = pid * 10 + (line[i] - '0');
                if (pid > INT32_MAX)
                        return false;
        }
        if (i == 0 || i >= n || line[i] != ' ')
                return false;
        i++;
        n_comm = MIN(n - i, sizeof(ret->comm) - 1);
        ret->pid = (int32_t) pid;
        memcpy(ret->comm, line + i, n_comm);
        ret->comm[n_comm] = 0;
        return true;
}

int tasks_new(Tasks **ret, const char *text) {
        _cleanup_(tasks_freep) Tasks *t = NULL;
        size_t n_unique = 0;
        uint32_t n_lines = 0;

        t = malloc(sizeof(*t));
        if (!t)
                return -ENOMEM;
        *t = (Tasks){};
        for (const char *line = text; line && *line;) {
                size_t n = strcspn(line, "\n");

                if (!ARRAY_GROW(t->tasks, t->n_tasks))
                        return -ENOMEM;
                if (parse_task(line, n, &t->tasks[t->n_tasks]))
                        t->tasks[t->n_tasks++].line = n_lines++;
                line += n + (line[n] == '\n');
        }
        if (t->n_tasks > 0)
                qsort(t->tasks, t->n_tasks, sizeof(*t->tasks), compare_tasks);
        for (size_t i = 0; i < t->n_tasks; i++)
                if (i + 1 == t->n_tasks || t->tasks[i].pid != t->tasks[i + 1].pid)
                        t->tasks[n_unique++] = t->tasks[i];
        t->n_tasks = n_unique;
        *ret = TAKE_PTR(t);
        return 0;
}

const char *tasks_comm(const Tasks *t, int32_t pid) {
        size_t low = 0, high = t->n_tasks;

        if (pid == 0)
                return "<idle>";
        if (pid < 0)
                return "<XXX>";
        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (t->tasks[middle].pid == pid)
                        return t->tasks[middle].comm;
                if (t->tasks[middle].pid < pid)
                        low = middle + 1;
                else
                        high = middle;
        }
        return "<...>";
}

Tasks *tasks_free(Tasks *t) {
        if (!t)
                return NULL;
        free(t->tasks);
        free(t);
        return NULL;
}
