/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Two small files, each written whole or not at all.  What only ftracectl wants to know again is in a section
 * [X-Ftraced], which systemd leaves alone.  systemd is asked by its own tools, which say what they cannot do. */

#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <spawn.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/ini.h"
#include "base/io.h"
#include "base/name.h"
#include "base/unit.h"
#include "cli/schedule/schedule.h"
#include "wire/manager-bus.h"

#define ANSWER_MAX ((size_t) 64 << 10)
#define NEXT "Next elapse: "
#define NOT_FOUND 127   /* env(1): there is no such program */
#define NO_PERMISSION 4 /* systemctl(1), as of init scripts */

#define UNIT_DIR "/etc/systemd/system"
#define WANTS_DIR UNIT_DIR "/timers.target.wants"
#define PREFIX "ftraced-capture@"
#define DROP_IN "50-ftracectl.conf"
#define HEADER                                                                                     \
        "# Written by ftracectl schedule, which removes it as well.  What is changed here "        \
        "belongs "                                                                                 \
        "into\n# another file of this directory.\n"

/* The timer last: systemd may read it at once. */
static const char *const types[] = { "service", "timer" };

bool schedule_name_is_valid(const char *name) {
        return session_name_is_valid(name) && strlen(name) <= SCHEDULE_NAME_MAX;
}

char *schedule_unit(char text[static SCHEDULE_UNIT_MAX], const char *name, const char *type) {
        (void) snprintf(text, SCHEDULE_UNIT_MAX, PREFIX "%s.%s", name, type);
        return text;
}

static int make_path(char **ret, const char *root, const char *name, const char *type,
                     const char *file) {
        return text_format(ret, "%s" UNIT_DIR "/" PREFIX "%s.%s.d%s%s", root ?: "", name, type,
                           file ? "/" : "", file ?: "");
}

char *schedule_quote(const char *word) {
        static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                    "0123456789_@,.:/=+*?[]^-";
        _cleanup_buf_ Buf out = BUF_INIT;
        char *text = NULL;

        if (*word && word[strspn(word, plain)] == 0)
                return strdup(word);
        buf_adds(&out, "\"");
        for (const char *c = word; *c; c++) {
                if (*c == '"' || *c == '\\')
                        buf_printf(&out, "\\%c", *c);
                else if (*c == '%' || *c == '$')
                        buf_printf(&out, "%c%c", *c, *c);
                else if ((unsigned char) *c < ' ' || *c == 0x7f)
                        buf_printf(&out, "\\x%02x", (unsigned) *c);
                else
                        buf_add(&out, c, 1);
        }
        buf_adds(&out, "\"");
        return buf_take_string(&out, &text) < 0 ? NULL : text;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int describe(Buf *out, const Schedule *s, const char *type) {
        bool is_timer = streq(type, "timer");

        buf_printf(out, HEADER "%s", is_timer ? "[Timer]\n" : "[Service]\nExecStart=\nExecStart=");
        if (is_timer && s->calendar) {
                /* Times are no words: only "%" means something in them. */
                buf_adds(out, "OnCalendar=\nOnCalendar=");
                for (const char *c = s->calendar; *c; c++)
                        buf_printf(out, "%s%c", *c == '%' ? "%" : "", *c);
                buf_adds(out, "\n");
        }
        for (size_t i = 0; !is_timer && i < s->command.n; i++) {
                _cleanup_free_ char *word = schedule_quote(s->command.items[i]);

                if (!word)
                        return -ENOMEM;
                buf_printf(out, "%s%s", i > 0 ? " " : "", word);
        }
        if (!is_timer)
                buf_printf(out, "\n\n[X-Ftraced]\nKeep=%" PRIu64 "\n", s->keep);
        return out->error;
}

int schedule_write(const char *root, const char *name, const Schedule *s) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(types); i++) {
                _cleanup_free_ char *dir = NULL, *path = NULL;
                _cleanup_buf_ Buf text = BUF_INIT;

                r = describe(&text, s, types[i])
                            ?: make_path(&dir, root, name, types[i], NULL)
                            ?: make_path(&path, root, name, types[i], DROP_IN)
                            ?: dir_make(AT_FDCWD, dir, 0755);
                if (r >= 0)
                        r = file_replace(AT_FDCWD, path, text.data, text.n_data, 0644);
        }
        return r;
}

int schedule_erase(const char *root, const char *name) {
        bool was_there = false;

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                _cleanup_free_ char *dir = NULL, *path = NULL;
                int r = make_path(&dir, root, name, types[i], NULL)
                                ?: make_path(&path, root, name, types[i], DROP_IN);

                if (r < 0)
                        return r;
                if (unlink(path) >= 0)
                        was_there = true;
                else if (errno != ENOENT)
                        return ORIGIN(-errno);
                (void) rmdir(dir); /* unless somebody else has a file in it */
        }
        return was_there ? 0 : -ENOENT;
}

/* --- reading ---------------------------------------------------------------------------------- */

static int on_set(const IniEntry *e, void *userdata) {
        Schedule *s = userdata;

        if (streq(e->section, "Timer") && streq(e->key, "OnCalendar"))
                return text_replace(&s->calendar, *e->value ? e->value : NULL);
        if (streq(e->section, "X-Ftraced") && streq(e->key, "Keep"))
                (void) parse_u64(e->value, INT64_MAX, &s->keep);
        return 0;
}

int schedule_read(Schedule *ret, const char *root, const char *name) {
        _cleanup_schedule_ Schedule s = {};

        for (size_t i = 0; i < ELEMENTSOF(types); i++) {
                _cleanup_free_ char *path = NULL, *text = NULL;
                int r = make_path(&path, root, name, types[i], DROP_IN)
                                ?: file_read(AT_FDCWD, path, &text, NULL, INI_BYTES_MAX);

                if (r == -ENOENT)
                        continue;
                if (r >= 0)
                        r = ini_parse(text, &(IniHandler){ .set = on_set, .userdata = &s });
                if (r < 0)
                        return r;
        }
        *ret = TAKE(s, (Schedule){});
        return 0;
}

int schedule_list(Strv *ret, const char *root) {
        static const struct {
                const char *before, *behind; /* the name */
        } paths[] = { { UNIT_DIR "/" PREFIX, ".timer.d" }, { WANTS_DIR "/" PREFIX, ".timer" } };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(paths); i++) {
                _cleanup_free_ char *pattern = NULL;
                glob_t found = {};

                if (asprintf(&pattern, "%s%s*%s", root ?: "", paths[i].before, paths[i].behind) < 0)
                        return -ENOMEM;
                if (glob(pattern, 0, NULL, &found) != 0)
                        found.gl_pathc = 0;
                for (size_t k = 0; r >= 0 && k < found.gl_pathc; k++) {
                        char *name = strrchr(found.gl_pathv[k], '/') + 1 + strlen(PREFIX);

                        name[strlen(name) - strlen(paths[i].behind)] = 0;
                        if (schedule_name_is_valid(name))
                                r = strv_add(ret, name);
                }
                globfree(&found);
        }
        strv_sort_unique(ret);
        return r;
}

void schedule_done(Schedule *s) {
        free(s->calendar);
        strv_done(&s->command);
        *s = (Schedule){};
}

/* --- systemd ---------------------------------------------------------------------------------- */

/* Runs a tool, in no language; its exit status, or -errno.  @ret: what it prints, while its complaints are better
 * said by us; NULL: both are for whoever looks on. */
static int run_tool(char **ret, const Strv *words) {
        posix_spawn_file_actions_t actions;
        int r, status, fds[2];
        pid_t pid;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return ORIGIN(-errno);
        (void) posix_spawn_file_actions_init(&actions);
        if (ret) {
                (void) posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
                (void) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                                        O_WRONLY, 0);
        }
        r = -posix_spawnp(&pid, words->items[0], &actions, NULL, words->items, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        safe_close(fds[1]);
        if (r == 0) {
                r = ret ? fd_read(fds[0], ret, NULL, ANSWER_MAX) : 0;
                while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                        ;
        }
        safe_close(fds[0]);
        if (r < 0)
                return r;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -EIO;
}

int systemd_is_there(void) {
        return access("/run/systemd/system", F_OK) >= 0
                       ? STATUS_OK
                       : failed(STATUS_UNABLE, "this host was not booted with systemd, which runs "
                                               "schedules.");
}

int systemd_control(const char *verb, const char *unit) {
        _cleanup_strv_ Strv words = {};
        int r = strv_split(&words, "systemctl --no-ask-password --quiet", " ")
                        ?: strv_split(&words, verb, " ");

        if (r >= 0 && unit)
                r = strv_add(&words, unit);
        r = r < 0 ? r : run_tool(NULL, &words);
        if (r < 0)
                return failed_errno(r, "Cannot run systemctl: %m");
        return r == 0 ? STATUS_OK : r == NO_PERMISSION ? STATUS_FORBIDDEN : STATUS_FAILED;
}

int systemd_add_self(Strv *ret) {
        char self[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        return n < 0 ? ORIGIN(-errno) : strv_addn(ret, self, (size_t) n);
}

int systemd_start_later(const char *name, const char *calendar, const Strv *command) {
        _cleanup_strv_ Strv words = {};
        int r = strv_split(&words,
                           "systemd-run --no-ask-password --quiet --service-type=oneshot "
                           "--timer-property=AccuracySec=1ms "
                           "--timer-property=RemainAfterElapse=no",
                           " ")
                        ?: strv_add(&words,
                                    "--description=Recording requested by ftracectl start")
                        ?: strv_addf(&words, "--unit=%s", name)
                        ?: strv_addf(&words, "--on-calendar=%s", calendar)
                        ?: strv_add(&words, "--");

        /* In each word systemd would replace $NAME. */
        for (size_t i = 0; r >= 0 && i < command->n; i++) {
                _cleanup_buf_ Buf word = BUF_INIT;
                char *text;

                for (const char *c = command->items[i]; *c; c++)
                        buf_add(&word, i > 0 && *c == '$' ? "$$" : c, i > 0 && *c == '$' ? 2 : 1);
                r = buf_take_string(&word, &text) ?: strv_take(&words, text);
        }
        r = r < 0 ? r : run_tool(NULL, &words);
        if (r < 0)
                return failed_errno(r, "Cannot run systemd-run: %m");
        return r == 0 ? STATUS_OK : STATUS_FAILED;
}

/* systemctl prints times for people, so the bus is asked. */
int systemd_look_at_timer(TimerState *ret, const char *timer) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
        _cleanup_free_ char *path = NULL, *load = NULL, *active = NULL;
        int r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", timer, &path);

        *ret = (TimerState){};
        if (r >= 0)
                r = manager_bus_open(&bus);
        if (r >= 0)
                r = sd_bus_get_property_string(bus, MANAGER_NAME, path, MANAGER_NAME ".Unit",
                                               "LoadState", &e, &load);
        if (r >= 0)
                r = sd_bus_get_property_string(bus, MANAGER_NAME, path, MANAGER_NAME ".Unit",
                                               "ActiveState", &e, &active);
        if (r >= 0) {
                ret->is_masked = streq(load, "masked");
                ret->is_active = streq(active, "active");
        }
        if (r >= 0 && !ret->is_masked)
                r = sd_bus_get_property_trivial(bus, MANAGER_NAME, path, MANAGER_NAME ".Timer",
                                                "NextElapseUSecRealtime", &e, 't', &ret->next_us);
        if (r >= 0 && !ret->is_masked)
                r = sd_bus_get_property_trivial(bus, MANAGER_NAME, path, MANAGER_NAME ".Timer",
                                                "LastTriggerUSec", &e, 't', &ret->last_us);
        if (ret->next_us == UINT64_MAX)
                ret->next_us = 0;
        return r < 0 ? failed(STATUS_FAILED, "Failed to look at %s: %s", timer,
                              e.message ?: origin_text(r))
                     : STATUS_OK;
}

char *schedule_read_next(const char *text) {
        const char *next = strstr(text, NEXT), *day;

        if (!next)
                return NULL;
        next += strlen(NEXT);
        day = next + strcspn(next, " \n");
        /* The day of the week is no part of it, and "never" is no time. */
        if (*day != ' ' || strcspn(day + 1, "\n") == 0)
                return NULL;
        return strndup(day + 1, strcspn(day + 1, "\n"));
}

int schedule_check_calendar(char **ret_next, const char *event, const char *option) {
        const char *quoted = NAME_QUOTED(event);
        _cleanup_free_ char *text = NULL;
        _cleanup_strv_ Strv words = {};
        int r = strv_split(&words, "env LC_ALL=C systemd-analyze calendar --", " ")
                        ?: strv_add(&words, event)
                        ?: run_tool(&text, &words);

        if (r == -ENOENT || r == NOT_FOUND)
                return failed(STATUS_UNABLE, "%s needs systemd: there is no systemd-analyze here.",
                              option);
        if (r < 0)
                return failed_errno(r, "%s: Cannot check \"%s\" with systemd-analyze: %m", option,
                                    quoted);
        if (r > 0)
                return failed(STATUS_USAGE,
                              "%s: \"%s\" is not a time that systemd understands, like 'Mon..Fri "
                              "02:00' or hourly; see systemd.time(7).",
                              option, quoted);
        *ret_next = schedule_read_next(text);
        return *ret_next ? STATUS_OK
                         : failed(STATUS_USAGE, "%s: \"%s\" has passed, and does not come again.",
                                  option, quoted);
}
