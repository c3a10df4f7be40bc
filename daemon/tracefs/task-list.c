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
