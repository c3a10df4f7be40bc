/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Sorted by bytes, which is as good as any order for comparing two.
 */

#include "daemon/tracefs/control.h"
#include "daemon/tracefs/task-list.h"

int task_list_read(const Tracefs *fs, const char *file, Strv *ret) {
        _cleanup_free_ char *text = NULL;
        int r = control_read(fs->fd, file, &text);

        if (r >= 0 && !streq(text, CONTROL_PIDS_ENDED))
                r = strv_split(ret, text, "\n");
        strv_sort_unique(ret);
        return r;
}

int task_list_pick(const Strv *a, const Strv *b, bool in_both, Strv *ret) {
        size_t k = 0;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < a->n; i++) {
                while (k < b->n && strcmp(b->items[k], a->items[i]) < 0)
                        k++;
                if ((k < b->n && streq(b->items[k], a->items[i])) == in_both)
                        r = strv_add(ret, a->items[i]);
        }
        return r;
}
