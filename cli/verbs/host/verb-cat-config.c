/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What counts, in the form of a file, each line with where it is from; problems go to stderr. */

#include "cli/options/verb.h"
#include "cli/terminal/terminal.h"
#include "meta/config.h"

static void print_text(Buf *out, const Config *c) {
        for (int i = 0; i < _CONFIG_KEY_N; i++) {
                const ConfigOrigin *origin = &c->origins[i];
                ConfigKey key = (ConfigKey) i;

                if (i == 0 || !streq(config_section(key), config_section((ConfigKey) (i - 1))))
                        buf_printf(out, "%s[%s]\n", i == 0 ? "" : "\n", config_section(key));
                if (origin->file)
                        buf_printf(out, "# %s:%u\n%s=%s\n", origin->file, origin->line,
                                   config_name(key), config_text(c, key));
                else
                        buf_printf(out, "#%s= (by default %s)\n", config_name(key),
                                   config_text(c, key));
        }
}

static json_t *to_json(const Config *c) {
        json_t *list = json_array();

        for (int i = 0; i < _CONFIG_KEY_N; i++) {
                const ConfigOrigin *origin = &c->origins[i];
                ConfigKey key = (ConfigKey) i;
                json_t *o = json_pack("{s:s, s:s, s:s, s:b}", "section", config_section(key), "key",
                                      config_name(key), "value", config_text(c, key), "default",
                                      !origin->file);

                if (o && origin->file)
                        (void) json_object_update_new(o,
                                                      json_pack("{s:s, s:i}", "file", origin->file,
                                                                "line", (int) origin->line));
                if (json_array_append_new(list, o) < 0) {
                        json_decref(list);
                        return NULL;
                }
        }
        return list;
}

int verb_cat_config(const Options *o) {
        _cleanup_buf_ Buf out = BUF_OF_TEXT(STDOUT_FILENO);
        _cleanup_strv_ Strv problems = {};
        _cleanup_config_ Config c = CONFIG_INIT;
        int r = config_load(&c, o->config_root, NULL, &problems);

        if (r < 0)
                return failed_errno(r, "Failed to read ftraced.conf: %m");
        warn_each(&problems);
        if (o->json != JSON_OFF)
                return stdout_json(o, to_json(&c));
        print_text(&out, &c);
        return stdout_end(&out);
}
