/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Errors that the interfaces declare and that the code has agree; their grammar: tests/varlink-conform.py. */

#include "base/array.h"
#include "unit.h"
#include "wire/interface.h"
#include "wire/refusal.h"

static const struct {
        const char *name, *text;
} interfaces[] = { { "org.ftraced.", interface_org_ftraced },
                   { "org.varlink.service.", interface_org_varlink_service } };

/* The name of the error that is declared next; its bytes, 0: there is none. */
static size_t next_error(const char **text) {
        const char *p = strstr(*text, "\nerror ");

        if (!p)
                return 0;
        *text = p + strlen("\nerror ");
        return strcspn(*text, " (\n");
}

TEST(every_refusal_is_an_error_of_an_interface) {
        for (int kind = 0; kind < _REFUSAL_N; kind++) {
                const char *name = refusal_error_name((RefusalKind) kind);
                bool found = false;

                for (size_t i = 0; i < ELEMENTSOF(interfaces); i++) {
                        const char *error = startswith(name, interfaces[i].name),
                                   *text = interfaces[i].text;
                        size_t n;

                        while (error && (n = next_error(&text)) > 0)
                                found = found ||
                                        (strlen(error) == n && strncmp(error, text, n) == 0);
                }
                ck_assert_msg(found, "no interface has %s", name);
        }
}

TEST(every_error_of_an_interface_is_a_refusal) {
        for (size_t i = 0; i < ELEMENTSOF(interfaces); i++) {
                const char *text = interfaces[i].text;
                size_t n, n_errors = 0;

                for (; (n = next_error(&text)) > 0; n_errors++) {
                        _cleanup_free_ char *name = NULL;

                        ck_assert_int_eq(
                                text_format(&name, "%s%.*s", interfaces[i].name, (int) n, text), 0);
                        ck_assert_msg(refusal_from_error_name(name) >= 0,
                                      "no refusal has the name %s", name);
                }
                ck_assert_uint_gt(n_errors, 3);
        }
}
