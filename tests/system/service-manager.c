/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A service manager as small as can be: it starts a service again whenever a signal has killed it,
 * keeps the descriptors that it is given over NOTIFY_SOCKET, and hands them to the next one.
 *
 *      service-manager [-k KILLS] [-m MS] [-f FILE] COMMAND [ARGUMENT...]
 *
 * With -k it sends SIGKILL so many times from SIGUSR2 on: in every other life at a random moment of
 * its first MS milliseconds, which may be before the service has said that it is ready, otherwise of
 * the first MS milliseconds after that.  SIGTERM is passed on and ends it; SIGUSR1 is passed on, and
 * the service is started again (a restart in order).  FILE is written after each change:
 * "kills 12 held 4 ready 1 pid 812".
 *
 * What it does is what sd_notify(3) and sd_listen_fds(3) say; systemd 252 does it in
 * src/core/service.c.
 */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include <linux/kcmp.h>

#include "base/cleanup.h"

#define HELD_MAX 256
#define FIRST_FD 3 /* SD_LISTEN_FDS_START */

typedef struct Held {
        char name[256];
        int fd;
} Held;

typedef struct Manager {
        char **command;
        const char *status_path;
        char socket_path[108];
        int notify_fd, signal_fd;
        Held held[HELD_MAX];
        size_t n_held;
        pid_t pid;
        unsigned n_kills, max_kills, max_ms, seed;
        unsigned long long kill_at_ms; /* 0: never */
        bool is_ready, is_ending, is_killing;
} Manager;

static unsigned long long now_ms(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_MONOTONIC, &t);
        return (unsigned long long) t.tv_sec * 1000 + (unsigned long long) t.tv_nsec / 1000000;
}

static void die(const char *what) {
        fprintf(stderr, "service-manager: %s: %s\n", what, strerror(errno));
        exit(1);
}

static void write_status(const Manager *m) {
        char path[4096];
        FILE *f;

        if (!m->status_path)
                return;
        (void) snprintf(path, sizeof(path), "%s.new", m->status_path);
        f = fopen(path, "we");
        if (!f)
                die(path);
        fprintf(f, "kills %u held %zu ready %i pid %i\n", m->n_kills, m->n_held, m->is_ready,
                (int) m->pid);
        (void) fclose(f);
        if (rename(path, m->status_path) < 0)
                die(m->status_path);
}

/* --- the service's life ------------------------------------------------------------------------ */

static void exec_service(Manager *m) {
        char names[HELD_MAX * 64] = "", text[32];
        sigset_t none;

        /* Out of the way of the numbers that they are to have. */
        for (size_t i = 0; i < m->n_held; i++)
                m->held[i].fd = fcntl(m->held[i].fd, F_DUPFD, FIRST_FD + HELD_MAX);
        for (size_t i = 0; i < m->n_held; i++) {
                if (dup2(m->held[i].fd, FIRST_FD + (int) i) < 0)
                        die("dup2");
                (void) snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
                                i > 0 ? ":" : "", m->held[i].name);
        }
        (void) syscall(SYS_close_range, FIRST_FD + (unsigned) m->n_held, ~0U, 0);

        (void) setenv("NOTIFY_SOCKET", m->socket_path, 1);
        if (m->n_held > 0) {
                (void) snprintf(text, sizeof(text), "%i", (int) getpid());
                (void) setenv("LISTEN_PID", text, 1);
                (void) snprintf(text, sizeof(text), "%zu", m->n_held);
                (void) setenv("LISTEN_FDS", text, 1);
                (void) setenv("LISTEN_FDNAMES", names, 1);
        }
        (void) sigemptyset(&none);
        (void) sigprocmask(SIG_SETMASK, &none, NULL);
        (void) execvp(m->command[0], m->command);
        die(m->command[0]);
}

static void set_kill(Manager *m) {
        m->kill_at_ms =
                m->is_killing && m->n_kills < m->max_kills && (m->is_ready || m->n_kills % 2 > 0)
                        ? now_ms() + (unsigned) rand_r(&m->seed) % m->max_ms
                        : 0;
}

static void start_service(Manager *m) {
        m->is_ready = false;
        m->pid = fork();
        if (m->pid < 0)
                die("fork");
        if (m->pid == 0)
                exec_service(m);
        set_kill(m);
        write_status(m);
}

/* --- what the service says --------------------------------------------------------------------- */

static void hold(Manager *m, const char *name, int fd) {
        for (size_t i = 0; i < m->n_held; i++)
                if (syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, m->held[i].fd, fd) == 0) {
                        (void) close(fd);
                        return;
                }
        if (m->n_held == HELD_MAX) {
                fprintf(stderr, "service-manager: more than %i descriptors\n", HELD_MAX);
                exit(1);
        }
        m->held[m->n_held].fd = fd;
        (void) snprintf(m->held[m->n_held].name, sizeof(m->held[0].name), "%s", name);
        m->n_held++;
}

static void let_go(Manager *m, const char *name) {
        for (size_t i = m->n_held; i-- > 0;) {
                if (!streq(m->held[i].name, name))
                        continue;
                (void) close(m->held[i].fd);
                memmove(m->held + i, m->held + i + 1, (m->n_held - i - 1) * sizeof(*m->held));
                m->n_held--;
        }
}

static void obey(Manager *m, char *text, const int *fds, size_t n_fds) {
        bool stores = false, removes = false, polls = true;
        const char *name = "stored";
        char *line, *rest = NULL;

        for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                stores = stores || streq(line, "FDSTORE=1");
                removes = removes || streq(line, "FDSTOREREMOVE=1");
                polls = polls && !streq(line, "FDPOLL=0");
                m->is_ready = m->is_ready || streq(line, "READY=1");
                name = startswith(line, "FDNAME=") ?: name;
        }
        if (stores && polls) {
                fprintf(stderr, "service-manager: %s was stored without FDPOLL=0\n", name);
                exit(1);
        }
        for (size_t i = 0; i < n_fds; i++)
                if (stores)
                        hold(m, name, fds[i]);
                else
                        (void) close(fds[i]); /* BARRIER=1 waits for just this */
        if (removes)
                let_go(m, name);
}

/* Also what a process that was killed meanwhile had said. */
static void listen_to_service(Manager *m) {
        for (;;) {
                union {
                        struct cmsghdr header;
                        char bytes[CMSG_SPACE(16 * sizeof(int))];
                } control;
                char text[4096];
                struct iovec iov = { text, sizeof(text) - 1 };
                struct msghdr message = { .msg_iov = &iov,
                                          .msg_iovlen = 1,
                                          .msg_control = &control,
                                          .msg_controllen = sizeof(control) };
                struct cmsghdr *c;
                int fds[16];
                size_t n_fds = 0;
                bool was_ready;
                ssize_t n;

                n = recvmsg(m->notify_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
                if (n < 0)
                        return;
                text[n] = 0;
                for (c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
                        if (c->cmsg_type == SCM_RIGHTS) {
                                n_fds = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                                memcpy(fds, CMSG_DATA(c), n_fds * sizeof(int));
                        }
                was_ready = m->is_ready;
                obey(m, text, fds, n_fds);
                if (m->is_ready && !was_ready && m->kill_at_ms == 0)
                        set_kill(m);
                write_status(m);
        }
}

/* --- what happens ------------------------------------------------------------------------------ */

static void bury(Manager *m) {
        int status;

        if (waitpid(m->pid, &status, WNOHANG) != m->pid)
                return;
        listen_to_service(m);
        if (m->is_ending || (WIFEXITED(status) && WEXITSTATUS(status) != 0)) {
                m->pid = 0;
                write_status(m);
                (void) unlink(m->socket_path);
                exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
        }
        start_service(m);
}

static void obey_signal(Manager *m) {
        struct signalfd_siginfo si;

        while (read(m->signal_fd, &si, sizeof(si)) == sizeof(si)) {
                m->is_ending = m->is_ending || si.ssi_signo == SIGTERM;
                if (si.ssi_signo == SIGCHLD)
                        bury(m);
                else if (si.ssi_signo == SIGUSR2) {
                        m->is_killing = true;
                        set_kill(m);
                } else
                        (void) kill(m->pid, (int) si.ssi_signo);
        }
}

static void run(Manager *m) {
        for (;;) {
                struct pollfd fds[] = { { .fd = m->notify_fd, .events = POLLIN },
                                        { .fd = m->signal_fd, .events = POLLIN } };
                unsigned long long now = now_ms();
                int timeout_ms = m->kill_at_ms == 0    ? -1
                                 : m->kill_at_ms > now ? (int) (m->kill_at_ms - now)
                                                       : 0;

                (void) poll(fds, ELEMENTSOF(fds), timeout_ms);
                listen_to_service(m);
                obey_signal(m);
                if (m->kill_at_ms > 0 && !m->is_ending && now_ms() >= m->kill_at_ms) {
                        m->kill_at_ms = 0;
                        m->n_kills++;
                        (void) kill(m->pid, SIGKILL);
                }
        }
}

int main(int argc, char *argv[]) {
        static Manager m = { .max_ms = 100 };
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        sigset_t mask;
        int c;

        while ((c = getopt(argc, argv, "+k:m:f:")) >= 0)
                switch (c) {
                case 'k':
                        m.max_kills = (unsigned) atoi(optarg);
                        break;
                case 'm':
                        m.max_ms = (unsigned) MAX(atoi(optarg), 1);
                        break;
                case 'f':
                        m.status_path = optarg;
                        break;
                default:
                        return 2;
                }
        if (optind == argc)
                return 2;
        m.command = argv + optind;
        m.seed = (unsigned) getpid();
        fprintf(stderr, "service-manager: seed %u\n", m.seed);

        (void) snprintf(m.socket_path, sizeof(m.socket_path), "%s/ftraced-notify-%i",
                        getenv("TMPDIR") ?: "/tmp", (int) getpid());
        m.notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        (void) strcpy(address.sun_path, m.socket_path);
        if (m.notify_fd < 0 || bind(m.notify_fd, (struct sockaddr *) &address, sizeof(address)) < 0)
                die(m.socket_path);
        (void) sigemptyset(&mask);
        (void) sigaddset(&mask, SIGCHLD);
        (void) sigaddset(&mask, SIGTERM);
        (void) sigaddset(&mask, SIGUSR1);
        (void) sigaddset(&mask, SIGUSR2);
        (void) sigprocmask(SIG_BLOCK, &mask, NULL);
        m.signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
        if (m.signal_fd < 0)
                die("signalfd");
        start_service(&m);
        run(&m);
}
