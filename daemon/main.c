/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Options and the environment; the rest is daemon/daemon.h. */

#include <fcntl.h>
#include <getopt.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/unit.h"
#include "daemon/daemon.h"
#include "daemon/lean/lean.h"
#include "daemon/tracer/controller.h"
#include "daemon/upkeep/upkeep.h"
#include "daemon/watch/watch.h"

static DaemonConfig arg_config = { .private_fd = -EBADF };
static bool arg_restore;
static bool arg_check_config;
static bool arg_cat_config;
static bool arg_quiet;

static int help(void) {
        printf("ftraced [OPTIONS...]\n\n"
               "Records what the kernel does under the functions that ftracectl names.\n\n"
               "      --store=DIR     keep recordings in DIR (%s/lib/ftraced)\n"
               "      --socket=PATH   listen on PATH (%s/ftraced/org.ftraced), unless\n"
               "                      systemd hands over a socket\n"
               "      --tracefs=DIR   where tracefs is mounted (found by itself)\n"
               "      --private=FD    serve the connected socket FD alone and leave\n"
               "                      when it closes\n"
               "      --config=FILE   read FILE instead of ftraced.conf and its drop-ins\n"
               "      --config-root=DIR  look for them below DIR\n"
               "      --check-config  say what is wrong in the configuration, and exit\n"
               "      --cat-config    print the settings in effect, and exit\n"
               "      --exit-idle=TIME  as a service, leave after TIME without work\n"
               "      --restore       undo what a dead ftraced left in the kernel, and exit\n"
               "  -q, --quiet         only warnings and errors\n"
               "  -h, --help          show this\n"
               "      --version       show the version\n\n"
               "FTRACED_STORE, FTRACED_SOCKET, FTRACED_TRACEFS and FTRACED_CONFIG in the\n"
               "environment stand for the options of those names.  See ftraced(8).\n",
               LOCALSTATEDIR, RUNSTATEDIR);
        return 0;
}

static int parse_private(const char *text, int *ret) {
        int type;
        socklen_t n = sizeof(type);
        uint64_t fd;

        if (parse_u64(text, INT32_MAX, &fd) < 0 || fd <= STDERR_FILENO ||
            getsockopt((int) fd, SOL_SOCKET, SO_TYPE, &type, &n) < 0 || type != SOCK_STREAM) {
                log_error("--private=%s: not a connected stream socket above descriptor 2.", text);
                return ORIGIN(-EINVAL);
        }
        (void) fcntl((int) fd, F_SETFD, FD_CLOEXEC);
        *ret = (int) fd;
        return 0;
}

static int parse_idle(const char *text, uint64_t *ret_us) {
        uint64_t ns;

        if (parse_duration(text, &ns) < 0 || ns < NSEC_PER_USEC) {
                log_error("--exit-idle=%s: not a time like 5min.", text);
                return ORIGIN(-EINVAL);
        }
        *ret_us = ns / NSEC_PER_USEC;
        return 0;
}

/* >0: go on; otherwise the exit is decided. */
static int parse_arguments(int argc, char *argv[]) {
        enum {
                ARG_STORE = 0x100,
                ARG_SOCKET,
                ARG_TRACEFS,
                ARG_CONFIG,
                ARG_CONFIG_ROOT,
                ARG_PRIVATE,
                ARG_CHECK_CONFIG,
                ARG_CAT_CONFIG,
                ARG_EXIT_IDLE,
                ARG_RESTORE,
                ARG_VERSION
        };
        static const struct option options[] = {
                { "store", required_argument, NULL, ARG_STORE },
                { "socket", required_argument, NULL, ARG_SOCKET },
                { "tracefs", required_argument, NULL, ARG_TRACEFS },
                { "private", required_argument, NULL, ARG_PRIVATE },
                { "config", required_argument, NULL, ARG_CONFIG },
                { "config-root", required_argument, NULL, ARG_CONFIG_ROOT },
                { "check-config", no_argument, NULL, ARG_CHECK_CONFIG },
                { "cat-config", no_argument, NULL, ARG_CAT_CONFIG },
                { "exit-idle", required_argument, NULL, ARG_EXIT_IDLE },
                { "restore", no_argument, NULL, ARG_RESTORE },
                { "quiet", no_argument, NULL, 'q' },
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, ARG_VERSION },
                {},
        };
        /* Of the options that are taken as they are. */
        static const char **const strings[] = {
                [ARG_STORE] = &arg_config.store,
                [ARG_SOCKET] = &arg_config.socket,
                [ARG_TRACEFS] = &arg_config.tracefs,
                [ARG_CONFIG] = &arg_config.config_file,
                [ARG_CONFIG_ROOT] = &arg_config.config_root,
        };
        int c;

        arg_config.store = getenv("FTRACED_STORE") ?: DAEMON_STORE;
        arg_config.socket = getenv("FTRACED_SOCKET") ?: RUNSTATEDIR "/ftraced/org.ftraced";
        arg_config.tracefs = getenv("FTRACED_TRACEFS");
        arg_config.config_file = getenv("FTRACED_CONFIG");

        while ((c = getopt_long(argc, argv, "hq", options, NULL)) >= 0)
                switch (c) {
                case ARG_STORE ... ARG_CONFIG_ROOT:
                        *strings[c] = optarg;
                        break;
                case ARG_PRIVATE:
                        if (parse_private(optarg, &arg_config.private_fd) < 0)
                                return ORIGIN(-EINVAL);
                        break;
                case ARG_CHECK_CONFIG:
                        arg_check_config = true;
                        break;
                case ARG_CAT_CONFIG:
                        arg_cat_config = true;
                        break;
                case ARG_EXIT_IDLE:
                        if (parse_idle(optarg, &arg_config.idle_us) < 0)
                                return ORIGIN(-EINVAL);
                        break;
                case ARG_RESTORE:
                        arg_restore = true;
                        break;
                case 'q':
                        arg_quiet = true;
                        break;
                case 'h':
                        return help();
                case ARG_VERSION:
                        puts("ftraced " PACKAGE_VERSION);
                        return 0;
                default:
                        return ORIGIN(-EINVAL);
                }

        if (optind < argc) {
                log_error("\"%s\" is too much: ftraced takes options only, see --help.",
                          argv[optind]);
                return ORIGIN(-EINVAL);
        }
        return 1;
}

/* What is left all the same is looked for, not believed. */
static int undo_all(int ledger_fd, size_t *ret_n, Strv *left, Strv *values) {
        _cleanup_(controller_freep) Controller *c = NULL;
        int r = controller_new(&c, arg_config.tracefs, -EBADF, ledger_fd, true, -EBADF);

        if (r < 0)
                return log_error_errno(r, "Cannot set up the control of tracefs: %m");
        controller_settle(c);
        *ret_n = controller_n_restored(c);
        r = controller_find_left(c, left) ?: controller_find_values(c, values);
        return r < 0 ? log_error_errno(r, "Cannot look for what is left in the kernel (is tracefs "
                                          "mounted?): %m")
                     : 0;
}

/* The store is not needed for it. */
static int restore(void) {
        _cleanup_(ledger_dir_done) LedgerDir dir = LEDGER_DIR_INIT;
        _cleanup_strv_ Strv left = {}, values = {};
        size_t n = 0;
        int r = own_store_open_ledger(&dir, arg_config.store);

        if (r < 0)
                return r;
        if (dir.fd < 0)
                return log_error_errno(dir.fd, "Cannot open the ledger of %s in %s: %m",
                                       arg_config.store, ledger_dir_root());
        r = undo_all(dir.fd, &n, &left, &values);
        if (n > 0)
                printf("Put back %zu changes that a dead ftraced had left in the kernel.\n", n);
        if (r < 0)
                return r;
        for (size_t i = 0; i < left.n; i++)
                log_error("Left in the kernel: %s.", left.items[i]);
        if (n == 0 && left.n == 0)
                printf("Nothing to put back: no ftraced has left anything in the kernel.\n");
        for (size_t i = 0; i < values.n; i++)
                printf("%s  %s\n",
                       i > 0 ? "  " : "Nobody knows who set this; if nobody needs it:\n  ",
                       values.items[i]);
        return left.n > 0 ? -EBUSY : 0;
}

int main(int argc, char *argv[]) {
        int r;

        /* Our own children (daemon/upkeep/sealer.c, daemon/lean/learner.c): nothing of what follows concerns them. */
        if (argc == 3 && streq(argv[1], SEAL_WORKER_OPTION))
                _exit(seal_worker(argv[2]));
        if (argc == 2 && streq(argv[1], LEARN_WORKER_OPTION))
                _exit(learn_worker());
        if (argc == 2 && streq(argv[1], "--maps")) /* ftraced-maps@.service */
                _exit(maps_serve(STDIN_FILENO) < 0);
        if (argc == 2 && streq(argv[1], "--stacks")) /* ftraced-stacks@.service */
                _exit(stacks_serve(STDIN_FILENO) < 0);
        log_setup("ftraced");
        r = parse_arguments(argc, argv);
        if (r <= 0)
                return r < 0 ? 2 : EXIT_SUCCESS;
        if (arg_quiet)
                log_set_max_priority(LOG_WARNING);

        r = arg_check_config ? settings_check(arg_config.config_root, arg_config.config_file)
            : arg_cat_config ? settings_print(arg_config.config_root, arg_config.config_file)
            : arg_restore    ? restore()
                             : daemon_run(&arg_config);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
