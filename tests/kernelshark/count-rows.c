/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What KernelShark makes of a trace.dat, without its window: "ROWS CPUS TASKS", then the first row's
 * task and event. */

#include <stdio.h>

#include <libkshark.h>

int main(int argc, char **argv) {
        struct kshark_context *context = NULL;
        struct kshark_data_stream *stream;
        struct kshark_entry **rows = NULL;
        ssize_t n_rows;
        int *tasks, sd;

        if (argc != 2 || !kshark_instance(&context))
                return 2;
        sd = kshark_open(context, argv[1]);
        if (sd < 0) {
                (void) fprintf(stderr, "%s: cannot be opened: %d\n", argv[1], sd);
                return 1;
        }
        n_rows = kshark_load_entries(context, sd, &rows);
        if (n_rows <= 0) {
                (void) fprintf(stderr, "%s: has no rows: %zd\n", argv[1], n_rows);
                return 1;
        }
        stream = kshark_get_data_stream(context, sd);
        printf("%zd %d %zd\n", n_rows, stream->n_cpus, kshark_get_task_pids(context, sd, &tasks));
        printf("%s %s\n", kshark_get_task(rows[0]), kshark_get_event_name(rows[0]));
        return 0;
}
