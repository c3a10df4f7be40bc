/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "base/cleanup.h"
#include "wire/manager-bus.h"

#define MANAGER_SOCKET "unix:path=/run/systemd/private"

int manager_bus_open(sd_bus **ret) {
        sd_bus *bus = NULL;
        int r = -EPERM;

        if (geteuid() == 0) {
                r = sd_bus_new(&bus);
                if (r >= 0)
                        r = sd_bus_set_address(bus, MANAGER_SOCKET);
                if (r >= 0)
                        r = sd_bus_start(bus);
        }
        if (r < 0) {
                sd_bus_unref(bus);
                bus = NULL;
                r = sd_bus_open_system(&bus);
        }
        if (r < 0)
                return r;
        *ret = bus;
        return 0;
}
