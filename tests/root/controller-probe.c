/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * usage: controller-probe LEDGER-DIR N
 *
 * Arms so many sessions of udp_sendmsg beside each other, each with a small buffer and one more function hooked, says
 * of each whether it is armed, and disarms them.  Those of a daemon, with their files and readers, would take longer.
 */

#include <fcntl.h>
#include <stdio.h>

#include "base/log.h"
#include "daemon/tracer/controller.h"

#define TRACERS_MAX 64

/* NULL: it was refused, which is said. */
static Tracer *arm(Controller *c, unsigned i) {
        _cleanup_(session_meta_freep) SessionMeta *m = NULL;
        _cleanup_(admission_freep) Admission *admission = NULL;
        _cleanup_refusal_ Refusal refusal = {};
        Tracer *t = NULL;
        int r = session_meta_new(&m);

        if (r == 0) {
                m->spec.buffer_bytes = 64 << 10;
                r = text_replace(&m->name, TRACEFS_PATH("s%u", i));
        }
        if (r == 0)
                r = strv_add(&m->spec.hooked, "ip_make_skb");
        if (r == 0)
                r = strv_add(&m->spec.functions, "udp_sendmsg");
        if (r == 0)
                r = controller_admit(c, &admission, m, false, false, &refusal);
        if (r == 0)
                r = controller_arm(c, &t, m, admission, &refusal);
        printf("arm s%u: %s: %s\n", i,
               r > 0   ? refusal_error_name(refusal.kind)
               : r < 0 ? "failed"
                       : "armed",
               r > 0   ? refusal_message(&refusal)
               : r < 0 ? strerror(-r)
                       : "");
        return r == 0 ? t : NULL;
}

int main(int argc, char *argv[]) {
        _cleanup_(controller_freep) Controller *c = NULL;
        Tracer *tracers[TRACERS_MAX] = {};
        _cleanup_close_ int fd = -EBADF;
        unsigned n = argc == 3 ? (unsigned) atoi(argv[2]) : 0;

        if (n == 0 || n > TRACERS_MAX) {
                fprintf(stderr, "usage: controller-probe LEDGER-DIR N\n");
                return 2;
        }
        log_setup("controller-probe");
        fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || controller_new(&c, getenv("TRACEFS"), fd, fd, false, -EBADF) < 0)
                return 1;
        for (unsigned i = 0; i < n; i++)
                tracers[i] = arm(c, i + 1);
        for (unsigned i = 0; i < n; i++)
                if (tracers[i] && tracer_disarm(tracers[i]) < 0)
                        return 1;
        return 0;
}
