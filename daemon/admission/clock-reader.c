/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Only the clock source in use matters: naming a function in a filter costs the kernel a walk over
 * all of them, so the usual host, on its TSC, pays nothing.
 */

#include "base/io.h"
#include "daemon/admission/clock-reader.h"

static const struct {
        const char *clock_source, *function;
} readers[] = {
        { "hpet", "read_hpet" },
        { "acpi_pm", "acpi_pm_read" },
        { "acpi_pm", "acpi_pm_read_slow" },
        { "acpi_pm", "acpi_pm_read_verified" },
        { "jiffies", "jiffies_read" },
};

int clock_reader_find(const Tracefs *fs, const Functions *f, Strv *ret) {
        _cleanup_free_ char *now = NULL;
        int r = file_read(fs->root_fd,
                          "sys/devices/system/clocksource/clocksource0/current_clocksource", &now,
                          NULL, 256);

        if (r < 0) /* a machine without the choice has none of these */
                return 0;
        now[strcspn(now, "\n")] = 0;
        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(readers); i++)
                if (streq(now, readers[i].clock_source) &&
                    functions_contain(f, readers[i].function))
                        r = strv_add(ret, readers[i].function);
        return r;
}
