/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * One message for each CPU, with both of its descriptors, so that a name is stored and let go of as
 * a whole.  What was handed over stays in the manager's store until it is removed, so that the next
 * daemon but one gets it again without anything being sent.
 */

#include <inttypes.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-login.h>

#include "base/array.h"
#include "base/log.h"
#include "daemon/process/background.h"
#include "daemon/process/fdstore.h"
#include "wire/manager-bus.h"

#define NAME_PREFIX "ftraced-"
#define NAME_MAX_BYTES 64
#define BARRIER_US (5 * 1000000ULL)
#define ASK_US (15 * 1000000ULL)

struct FdStore {
        bool is_there;
        Strv names; /* of descriptors from SD_LISTEN_FDS_START on; "" once it is taken */
};

static void format_name(char name[static NAME_MAX_BYTES], const char *session_id, uint32_t cpu) {
        (void) snprintf(name, NAME_MAX_BYTES, NAME_PREFIX "%.16s-%" PRIu32, session_id, cpu);
}

bool fdstore_owns_name(const char *name) {
        const char *id = startswith(name, NAME_PREFIX);

        return id && strspn(id, "0123456789abcdef") == 16 && id[16] == '-';
}

static int take_over(FdStore *s) {
        char **names = NULL;
        int n = sd_listen_fds_with_names(true, &names);

        if (n > 0)
                s->names = (Strv){ .items = names, .n = (size_t) n, .n_room = (size_t) n + 1 };
        for (size_t i = 0; i < s->names.n; i++)
                log_debug("fdstore", "got %s", names[i]);
        return MIN(n, 0);
}

/* The @i-th, which is not in the store any more. */
static int take(FdStore *s, size_t i) {
        s->names.items[i][0] = 0;
        return SD_LISTEN_FDS_START + (int) i;
}

int fdstore_new(FdStore **ret, bool is_service) {
        _cleanup_(fdstore_freep) FdStore *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        s->is_there = is_service && getenv("NOTIFY_SOCKET");
        r = is_service ? take_over(s) : 0;
        if (r < 0)
                return r;
        *ret = TAKE_PTR(s);
        return 0;
}

bool fdstore_is_there(const FdStore *s) {
        return s->is_there;
}

int fdstore_put(FdStore *s, const char *session_id, uint32_t cpu, int raw_fd, int pipe_fd) {
        char name[NAME_MAX_BYTES], text[NAME_MAX_BYTES + 64];
        int fds[] = { raw_fd, pipe_fd }, r;

        if (!s->is_there)
                return 0;
        format_name(name, session_id, cpu);
        (void) snprintf(text, sizeof(text), "FDSTORE=1\nFDPOLL=0\nFDNAME=%s", name);
        r = sd_pid_notify_with_fds(0, 0, text, fds, ELEMENTSOF(fds));
        return r < 0 ? r : 0;
}

int fdstore_barrier(FdStore *s) {
        int r = s->is_there ? BACKGROUND_CALL(sd_notify_barrier(0, BARRIER_US)) : 0;

        return r < 0 ? r : 0;
}

int fdstore_take_other(FdStore *s) {
        for (size_t i = 0; i < s->names.n; i++)
                if (*s->names.items[i] && !fdstore_owns_name(s->names.items[i]))
                        return take(s, i);
        return ORIGIN(-ENOENT);
}

static bool is_pipe(int fd) {
        struct statfs st;

        return fstatfs(fd, &st) >= 0 && st.f_type == PIPEFS_MAGIC;
}

void fdstore_take(FdStore *s, const char *session_id, uint32_t cpu, int *ret_raw, int *ret_pipe) {
        char name[NAME_MAX_BYTES];

        *ret_raw = *ret_pipe = -EBADF;
        format_name(name, session_id, cpu);
        for (size_t i = 0; i < s->names.n; i++) {
                int *ret = is_pipe(SD_LISTEN_FDS_START + (int) i) ? ret_pipe : ret_raw;

                if (*ret < 0 && streq(s->names.items[i], name))
                        *ret = take(s, i);
        }
}

static int remove_name(FdStore *s, const char *name) {
        char text[NAME_MAX_BYTES + 64];
        int r;

        if (!s->is_there)
                return 0;
        (void) snprintf(text, sizeof(text), "FDSTOREREMOVE=1\nFDNAME=%s", name);
        r = sd_notify(0, text);
        return r < 0 ? r : 0;
}

int fdstore_remove(FdStore *s, const char *session_id, uint32_t cpu) {
        char name[NAME_MAX_BYTES];

        format_name(name, session_id, cpu);
        return remove_name(s, name);
}

size_t fdstore_drop_rest(FdStore *s) {
        char last[NAME_MAX_BYTES] = "";
        size_t n = 0;

        for (size_t i = 0; i < s->names.n; i++) {
                const char *name = s->names.items[i];

                if (!fdstore_owns_name(name))
                        continue;
                if (!streq(name, last)) {
                        (void) snprintf(last, sizeof(last), "%s", name);
                        (void) remove_name(s, last);
                        n++;
                }
                safe_close(take(s, i));
        }
        if (n > 0)
                (void) fdstore_barrier(s);
        return n;
}

FdStore *fdstore_free(FdStore *s) {
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->names.n; i++)
                if (*s->names.items[i])
                        safe_close(take(s, i));
        strv_done(&s->names);
        return mfree(s);
}

/* --- its plans ---------------------------------------------------------------------------------- */

static int ask(sd_bus *bus, const char *unit) {
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _cleanup_free_ char *path = NULL, *type = NULL;
        const char *job_path;
        uint32_t job = 0;
        int r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path);

        if (r >= 0)
                r = sd_bus_get_property(bus, MANAGER_NAME, path, MANAGER_NAME ".Unit", "Job", NULL,
                                        &reply, "(uo)");
        if (r >= 0)
                r = sd_bus_message_read(reply, "(uo)", &job, &job_path);
        if (r >= 0 && job > 0)
                r = sd_bus_get_property_string(bus, MANAGER_NAME, job_path, MANAGER_NAME ".Job",
                                               "JobType", NULL, &type);
        if (r < 0)
                return r;
        log_debug("fdstore", "job %u of %s is of type %s", job, unit, type ?: "none");
        return type && streq(type, "restart");
}

int manager_is_restarting(void) {
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        _cleanup_free_ char *unit = NULL;
        int r;

        if (!getenv("NOTIFY_SOCKET") || sd_booted() <= 0 || sd_pid_get_unit(0, &unit) < 0)
                return 0;
        r = manager_bus_open(&bus);
        if (r >= 0)
                r = sd_bus_set_method_call_timeout(bus, ASK_US);
        return r < 0 ? r : ask(bus, unit);
}
