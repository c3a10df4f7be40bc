/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Two properties: the unit's job, and the job's type.
 */

#include <systemd/sd-daemon.h>
#include <systemd/sd-login.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/process/manager.h"
#include "wire/manager-bus.h"

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
        log_debug("manager", "job %u of %s is of type %s", job, unit, type ?: "none");
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
                r = sd_bus_set_method_call_timeout(bus, MANAGER_TIMEOUT_US);
        return r < 0 ? r : ask(bus, unit);
}
