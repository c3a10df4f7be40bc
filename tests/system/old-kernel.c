/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * usage: old-kernel 4.18|5.10 PROGRAM [ARGUMENT...]
 *
 * Runs PROGRAM, and whatever that runs, as on an older kernel: a seccomp filter answers what Linux 5.10, or 4.18,
 * answers to system calls and flags that it does not know.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Numbers from 424 on, pidfd_send_signal(2) of linux 5.1, are the same on all machines. */
#define LAST_CALL_4_18 423
#define LAST_CALL_5_10 440 /* process_madvise(2) */
#define NEW_ADVICE 22      /* MADV_POPULATE_READ of linux 5.14, and what came after it */

#define LOAD(at) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (at))
#define ARGUMENT(i) offsetof(struct seccomp_data, args[i]) /* the lower half: little endian */
#define FAIL(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

int main(int argc, char *argv[]) {
        const unsigned last_call =
                argc > 1 && strcmp(argv[1], "4.18") == 0 ? LAST_CALL_4_18 : LAST_CALL_5_10;
        const struct sock_filter program[] = {
                LOAD(offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last_call, 0, 1),
                FAIL(ENOSYS),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close_range, 0, 3),
                LOAD(ARGUMENT(2)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 5, 0),
                FAIL(EINVAL),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_madvise, 0, 3),
                LOAD(ARGUMENT(2)),
                BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, NEW_ADVICE, 0, 1),
                FAIL(EINVAL),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const struct sock_fprog p = { .len = sizeof(program) / sizeof(*program),
                                      .filter = (struct sock_filter *) program };

        if (argc < 3 || (strcmp(argv[1], "4.18") != 0 && strcmp(argv[1], "5.10") != 0)) {
                (void) fprintf(stderr, "usage: old-kernel 4.18|5.10 PROGRAM [ARGUMENT...]\n");
                return 2;
        }
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) < 0) {
                perror("old-kernel: seccomp");
                return 77;
        }
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        return 127;
}
