/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Calls of org.freedesktop.systemd1 (man 5 of that name).  A job is waited for by its JobRemoved
 * signal, which systemd sends to whoever asked for the job without any subscription.
 */

#include "cli/options/status.h"
#include "cli/schedule/units.h"
#include "wire/manager-bus.h"

#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define MANAGER MANAGER_NAME ".Manager"
#define JOB_FOR_EVER UINT64_MAX

/* The job that is waited for. */
typedef struct Job {
        char *path, *result; /* NULL until it is known */
} Job;

static void job_done(Job *j) {
        free(j->path);
        free(j->result);
}

int units_add_self(Strv *ret) {
        char self[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        return n < 0 ? ORIGIN(-errno) : strv_addn(ret, self, (size_t) n);
}

int units_open(Units **ret) {
        int r = manager_bus_open(ret);

        if (r >= 0)
                return STATUS_OK;
        log_error_errno(r, "Cannot talk to systemd, which runs schedules: %m");
        return STATUS_UNABLE;
}

Units *units_free(Units *u) {
        return sd_bus_flush_close_unref(u);
}

static int failure(const char *what, const char *unit, int r, const sd_bus_error *e) {
        if (sd_bus_error_has_name(e, SD_BUS_ERROR_ACCESS_DENIED) ||
            sd_bus_error_has_name(e, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
                return failed(STATUS_FORBIDDEN, "systemd does not let you %s %s: repeat with sudo.",
                              what, unit);
        return failed(STATUS_FAILED, "Failed to %s %s: %s", what, unit,
                      e->message ?: origin_text(r));
}

/* A method of the manager's, which is to do @what to @unit. */
static int call(Units *u, const char *what, const char *unit, sd_bus_message **ret,
                const char *method, const char *types, ...) {
        _cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
        va_list ap;
        int r;

        va_start(ap, types);
        r = sd_bus_call_methodv(u, MANAGER_NAME, SYSTEMD_PATH, MANAGER, method, &e, ret, types, ap);
        va_end(ap);
        return r < 0 ? failure(what, unit, r, &e) : STATUS_OK;
}

int units_reload(Units *u) {
        return call(u, "reload", "its units", NULL, "Reload", NULL);
}

int units_enable(Units *u, const char *unit) {
        return call(u, "enable", unit, NULL, "EnableUnitFiles", "asbb", 1, unit, false, true)
                       ?: units_reload(u);
}

int units_disable(Units *u, const char *unit) {
        return call(u, "disable", unit, NULL, "DisableUnitFiles", "asb", 1, unit, false)
                       ?: units_reload(u);
}

/* --- jobs ------------------------------------------------------------------------------------- */

static int on_job_removed(sd_bus_message *m, void *userdata, sd_bus_error *e) {
        const char *path, *unit, *result;
        Job *job = userdata;
        uint32_t id;

        if (sd_bus_message_read(m, "uoss", &id, &path, &unit, &result) >= 0 && job->path &&
            streq(path, job->path) && !job->result)
                job->result = strdup(result);
        return 0;
}

static int wait_for(Units *u, Job *job) {
        while (!job->result) {
                int r = sd_bus_process(u, NULL) ?: sd_bus_wait(u, JOB_FOR_EVER);

                if (r < 0)
                        return r;
        }
        return 0;
}

static int run_job(Units *u, const char *method, const char *what, const char *unit) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_(sd_bus_slot_unrefp) sd_bus_slot *slot = NULL;
        _cleanup_(job_done) Job job = {};
        const char *path;
        int status, r;

        r = sd_bus_match_signal(u, &slot, NULL, SYSTEMD_PATH, MANAGER, "JobRemoved", on_job_removed,
                                &job);
        if (r < 0)
                return failure(what, unit, r, &SD_BUS_ERROR_NULL);
        status = call(u, what, unit, &reply, method, "ss", unit, "replace");
        if (status != STATUS_OK)
                return status;
        r = sd_bus_message_read(reply, "o", &path);
        if (r >= 0) {
                job.path = strdup(path);
                r = job.path ? wait_for(u, &job) : -ENOMEM;
        }
        if (r < 0)
                return failure(what, unit, r, &SD_BUS_ERROR_NULL);
        if (streq(job.result, "done"))
                return STATUS_OK;
        return failed(STATUS_FAILED, "%s ended as \"%s\"; its journal says why: journalctl -u %s",
                      unit, job.result, unit);
}

int units_start(Units *u, const char *unit) {
        return run_job(u, "StartUnit", "start", unit);
}

int units_stop(Units *u, const char *unit) {
        return run_job(u, "StopUnit", "stop", unit);
}

/* --- timers ----------------------------------------------------------------------------------- */

static int read_timer(Units *u, const char *path, TimerState *ret, sd_bus_error *e) {
        _cleanup_free_ char *load = NULL, *active = NULL;
        int r = sd_bus_get_property_string(u, MANAGER_NAME, path, MANAGER_NAME ".Unit", "LoadState",
                                           e, &load);

        if (r >= 0)
                r = sd_bus_get_property_string(u, MANAGER_NAME, path, MANAGER_NAME ".Unit",
                                               "ActiveState", e, &active);
        if (r < 0)
                return r;
        *ret = (TimerState){ .is_masked = streq(load, "masked"),
                             .is_active = streq(active, "active") };
        if (ret->is_masked)
                return 0;
        r = sd_bus_get_property_trivial(u, MANAGER_NAME, path, MANAGER_NAME ".Timer",
                                        "NextElapseUSecRealtime", e, 't', &ret->next_us);
        if (r >= 0)
                r = sd_bus_get_property_trivial(u, MANAGER_NAME, path, MANAGER_NAME ".Timer",
                                                "LastTriggerUSec", e, 't', &ret->last_us);
        if (ret->next_us == UINT64_MAX)
                ret->next_us = 0;
        return r;
}

int units_timer_state(Units *u, const char *unit, TimerState *ret) {
        _cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *path;
        int r, status = call(u, "look at", unit, &reply, "LoadUnit", "s", unit);

        *ret = (TimerState){};
        if (status != STATUS_OK)
                return status;
        r = sd_bus_message_read(reply, "o", &path);
        if (r >= 0)
                r = read_timer(u, path, ret, &e);
        return r < 0 ? failure("look at", unit, r, &e) : STATUS_OK;
}

/* ExecStart, a(sasb): in each word systemd would replace $NAME. */
static int add_command(sd_bus_message *m, const Strv *command) {
        _cleanup_strv_ Strv words = {};
        int r = strv_add(&words, command->items[0]);

        for (size_t i = 1; r >= 0 && i < command->n; i++) {
                char *word = malloc(2 * strlen(command->items[i]) + 1), *p = word;

                if (!word)
                        return -ENOMEM;
                for (const char *c = command->items[i]; *c; c++) {
                        *p++ = *c;
                        if (*c == '$')
                                *p++ = '$';
                }
                *p = 0;
                r = strv_take(&words, word);
        }
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'r', "sv");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", "ExecStart");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'v', "a(sasb)");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(sasb)");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'r', "sasb");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", command->items[0]);
        if (r >= 0)
                r = sd_bus_message_append_strv(m, words.items);
        if (r >= 0)
                r = sd_bus_message_append(m, "b", false);
        for (unsigned i = 0; r >= 0 && i < 4; i++)
                r = sd_bus_message_close_container(m);
        return r;
}

/* sa(sv)a(sa(sv)): the timer, and beside it the service. */
static int describe_transient(sd_bus_message *m, const TransientTimer *t) {
        char unit[256];
        int r;

        (void) snprintf(unit, sizeof(unit), "%s.timer", t->name);
        r = sd_bus_message_append(m, "ssa(sv)", unit, "fail", 4, "Description", "s", t->description,
                                  "TimersCalendar", "a(ss)", 1, "OnCalendar", t->calendar,
                                  "AccuracyUSec", "t", UINT64_C(1000), "RemainAfterElapse", "b",
                                  false);
        (void) snprintf(unit, sizeof(unit), "%s.service", t->name);
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(sa(sv))");
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'r', "sa(sv)");
        if (r >= 0)
                r = sd_bus_message_append(m, "s", unit);
        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "(sv)");
        if (r >= 0)
                r = sd_bus_message_append(m, "(sv)(sv)", "Description", "s", t->description, "Type",
                                          "s", "oneshot");
        if (r >= 0)
                r = add_command(m, t->command);
        for (unsigned i = 0; r >= 0 && i < 3; i++)
                r = sd_bus_message_close_container(m);
        return r;
}

int units_start_transient(Units *u, const TransientTimer *t) {
        _cleanup_(sd_bus_error_free) sd_bus_error e = SD_BUS_ERROR_NULL;
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r = sd_bus_message_new_method_call(u, &m, MANAGER_NAME, SYSTEMD_PATH, MANAGER,
                                               "StartTransientUnit");

        if (r >= 0)
                r = describe_transient(m, t);
        if (r >= 0)
                r = sd_bus_call(u, m, 0, &e, NULL);
        return r < 0 ? failure("make the timer", t->name, r, &e) : STATUS_OK;
}
