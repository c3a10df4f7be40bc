/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Config says what was written, Limits what that comes to on this host. */

#include <sys/statvfs.h>

#include "base/log.h"
#include "daemon/daemon.h"

int settings_load(Settings *s, const char *root, const char *file, int store_fd, bool is_strict,
                  Strv *problems) {
        _cleanup_config_ Config c = CONFIG_INIT;
        struct statvfs fs;
        int r = config_load(&c, root, file, problems);

        if (r >= 0 && is_strict && problems->n > 0)
                return SETTINGS_E_PROBLEMS;
        if (r >= 0 && fstatvfs(store_fd, &fs) < 0)
                r = ORIGIN(-errno);
        if (r < 0)
                return r;
        config_done(&s->config);
        s->config = TAKE(c, (Config) CONFIG_INIT);
        s->limits = config_limits(&s->config, (uint64_t) fs.f_blocks * fs.f_frsize,
                                  (unsigned) MAX(sysconf(_SC_NPROCESSORS_ONLN), 1L));
        return 0;
}

/* 1: something is wrong, and was said. */
static int load(Config *c, const char *root, const char *file) {
        _cleanup_strv_ Strv problems = {};
        int r = config_load(c, root, file, &problems);

        if (r < 0)
                return log_error_errno(r, "Cannot read the configuration %s: %m",
                                       file ?: "ftraced.conf");
        for (size_t i = 0; i < problems.n; i++)
                log_error("%s.", problems.items[i]);
        return problems.n > 0;
}

int settings_check(const char *root, const char *file) {
        _cleanup_config_ Config c = CONFIG_INIT;
        int r = load(&c, root, file);

        return r > 0 ? -EINVAL : r;
}

int settings_print(const char *root, const char *file) {
        _cleanup_config_ Config c = CONFIG_INIT;
        int r = load(&c, root, file);

        if (r < 0)
                return r;
        for (size_t i = 0; config_keys[i].name; i++) {
                const ConfigKey *key = &config_keys[i];
                const ConfigOrigin *origin = &c.origins[i];
                const char *text = config_text(&c, i);

                if (i == 0 || !streq(key->section, config_keys[i - 1].section))
                        printf("%s[%s]\n", i == 0 ? "" : "\n", key->section);
                if (origin->file)
                        printf("# %s:%u\n%s=%s\n", origin->file, origin->line, key->name,
                               text);
                else
                        printf("#%s= (by default %s)\n", key->name, text);
        }
        return fflush(stdout) < 0 ? -errno : 0;
}
