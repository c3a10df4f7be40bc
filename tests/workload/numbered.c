/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * numbered: marks and calls from which can be computed what a recording has to hold
 *
 *      numbered FILE N-TASKS
 *
 * Each of N-TASKS processes, on a CPU of its own if there are so many, writes "load T 0", "load T 1", ... to FILE, a
 * trace_marker.  After the mark I it tells the machine's port 0xe9, a byte that is T, and calls sysinfo() 1 + I % 3
 * times.  Whoever keeps what came to the port knows how many marks there were when the machine died: so many, or one
 * more.  It ends with its parent, or with the machine.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT 0xe9

static int work(int marker_fd, int port_fd, unsigned task) {
        unsigned char byte = (unsigned char) task;

        for (unsigned i = 0;; i++) {
                struct sysinfo info;
                ssize_t written;
                char text[48];
                int n = snprintf(text, sizeof(text), "load %u %u\n", task, i);

                do /* as long as recording is off, for a snapshot */
                        written = write(marker_fd, text, (size_t) n);
                while (written < 0 && errno == EBADF && usleep(100) == 0);
                if (written != n || pwrite(port_fd, &byte, 1, PORT) != 1) {
                        perror("numbered");
                        return 1;
                }
                for (unsigned k = 0; k <= i % 3; k++)
                        (void) sysinfo(&info);
        }
}

int main(int argc, char *argv[]) {
        int marker_fd = argc == 3 ? open(argv[1], O_WRONLY | O_CLOEXEC) : -1;
        int port_fd = open("/dev/port", O_WRONLY | O_CLOEXEC), status;
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

        if (marker_fd < 0 || port_fd < 0) {
                perror(argc == 3 ? argv[1] : "usage: numbered FILE N-TASKS");
                return 1;
        }
        for (unsigned task = 0; task < (unsigned) atoi(argv[2]); task++) {
                pid_t pid = fork();
                cpu_set_t one;

                if (pid > 0)
                        continue;
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                CPU_ZERO(&one);
                CPU_SET(task % (unsigned) n_cpus, &one);
                if (pid < 0 || sched_setaffinity(0, sizeof(one), &one) < 0) {
                        perror("numbered");
                        _exit(1);
                }
                _exit(work(marker_fd, port_fd, task));
        }
        (void) wait(&status);
        return 1;
}
