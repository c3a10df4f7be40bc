/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What counts, in the form of a file, each line with where it is from; problems go to stderr. */

#include "cli/options/verb.h"
#include "cli/terminal/terminal.h"
#include "meta/config.h"

static void print_text(Buf *out, const Config *c) {
        for (size_t i = 0; i < CONFIG_N_KEYS; i++) {
                const ConfigOrigin *origin = &c->origins[i];
                const ConfigKey *key = &config_keys[i];

                if (i == 0 || !streq(key->section, key[-1].section))
                        buf_printf(out, "%s[%s]\n", i == 0 ? "" : "\n", key->section);
                if (origin->file)
                        buf_printf(out, "# %s:%u\n%s=%s\n", origin->file, origin->line, key->name,
                                   config_text(c, i));
                else
                        buf_printf(out, "#%s= (by default %s)\n", key->name, config_text(c, i));
        }
}

static json_t *to_json(const Config *c) {
        json_auto_t *list = json_array();

        for (size_t i = 0; i < CONFIG_N_KEYS; i++) {
                const ConfigOrigin *origin = &c->origins[i];
                const ConfigKey *key = &config_keys[i];
                json_t *line = origin->file ? json_integer(origin->line) : NULL;

                if (json_array_append_new(list,
                                          json_pack("{s:s, s:s, s:s, s:b, s:s*, s:o*}", "section",
                                                    key->section, "key", key->name, "value",
                                                    config_text(c, i), "default", !origin->file,
                                                    "file", origin->file, "line", line)) < 0)
                        return NULL;
        }
        return json_incref(list);
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
