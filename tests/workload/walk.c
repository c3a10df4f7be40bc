/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A user of libftraced: walks a recording, and prints what there was of each kind. */

#include <ftraced.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *what, int r) {
        fprintf(stderr, "walk: %s: %s\n", what, strerror(-r));
        return 1;
}

static int walk(ftraced_source *s) {
        uint64_t n[FTRACED_OTHER + 1] = { 0 }, n_roots = 0, n_lost = 0, last_ns = 0,
                                   duration_ns = 0;
        const ftraced_event *e;
        int r, is_ordered = 1;

        while ((r = ftraced_source_next(s, &e)) > 0) {
                n[e->kind]++;
                n_lost += e->n_lost;
                duration_ns += e->duration_ns;
                n_roots += e->is_root && e->kind != FTRACED_LEAVE;
                if (e->kind != FTRACED_LOST)
                        is_ordered =
                                is_ordered && e->time_ns >= last_ns && (last_ns = e->time_ns, 1);
                if (e->kind <= FTRACED_LEAVE && !*e->function)
                        return fail("a function has no name", 0);
        }
        if (r < 0)
                return fail("walking", r);
        printf("{\"enter\":%" PRIu64 ",\"leaf\":%" PRIu64 ",\"leave\":%" PRIu64 ",\"lost\":%" PRIu64
               ",\"other\":%" PRIu64 ",\"roots\":%" PRIu64 ",\"events_lost\":%" PRIu64
               ",\"duration_ns\":%" PRIu64 ",\"ordered\":%s,\"session\":%s}\n",
               n[FTRACED_ENTER], n[FTRACED_LEAF], n[FTRACED_LEAVE], n[FTRACED_LOST],
               n[FTRACED_OTHER], n_roots, n_lost, duration_ns, is_ordered ? "true" : "false",
               ftraced_source_describe(s));
        return 0;
}

/* walk FILE; walk -c SOCKET METHOD PARAMETERS; walk -s SOCKET SESSION */
int main(int argc, char **argv) {
        ftraced_client *c = NULL;
        ftraced_source *s = NULL;
        const char *reply;
        int r;

        if (argc == 2) {
                r = ftraced_source_open(&s, argv[1]);
                if (r < 0)
                        return fail(argv[1], r);
                r = walk(s);
                ftraced_source_free(s);
                return r;
        }
        if (argc < 4) {
                puts(ftraced_version());
                return 0;
        }
        r = ftraced_client_connect(&c, argv[2]);
        if (r < 0)
                return fail(argv[2], r);
        if (strcmp(argv[1], "-c") == 0) {
                r = ftraced_client_call(c, argv[3], argc > 4 ? argv[4] : NULL, &reply);
                if (r < 0)
                        r = fail(argv[3], r);
                else
                        printf("%s%s%s\n", r > 0 ? ftraced_client_error(c) : "", r > 0 ? " " : "",
                               reply);
        } else {
                r = ftraced_client_open(c, argv[3], &s);
                r = r < 0 ? fail(argv[3], r) : walk(s);
        }
        ftraced_source_free(s);
        ftraced_client_free(c);
        return r;
}
