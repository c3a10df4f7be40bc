/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * A small reader of Varlink interface definitions, after the grammar at
 * https://varlink.org/Interface-Definition, and what the code says must agree.
 */

#include <ctype.h>
#include <jansson.h>
#include <stdbool.h>

#include "unit.h"
#include "base/array.h"
#include "wire/interface.h"
#include "wire/refusal.h"

typedef struct Reader {
        const char *p;
        char interface[128];
        Strv types, methods, errors, used; /* used: names of types that members refer to */
} Reader;

static void reader_done(Reader *r) {
        strv_done(&r->types);
        strv_done(&r->methods);
        strv_done(&r->errors);
        strv_done(&r->used);
}

static void skip(Reader *r) {
        for (;;)
                if (isspace((unsigned char) *r->p))
                        r->p++;
                else if (*r->p == '#')
                        r->p += strcspn(r->p, "\n");
                else
                        return;
}

static bool token(Reader *r, const char *t) {
        skip(r);
        if (!startswith(r->p, t))
                return false;
        r->p += strlen(t);
        return true;
}

/* A word of letters, digits and any of @more. */
static bool word(Reader *r, char ret[static 128], const char *more) {
        size_t n = 0;

        skip(r);
        while (isalnum((unsigned char) r->p[n]) || (r->p[n] && strchr(more, r->p[n])))
                n++;
        if (n == 0 || n >= 128)
                return false;
        memcpy(ret, r->p, n);
        ret[n] = 0;
        r->p += n;
        return true;
}

static bool is_field_name(const char *s) {
        return isalpha((unsigned char) *s) && s[strlen(s) - 1] != '_' && !strstr(s, "__");
}

static bool read_struct(Reader *r);

static bool read_type(Reader *r) {
        char name[128];

        (void) token(r, "?");
        while (token(r, "[]") || token(r, "[string]"))
                ;
        if (token(r, "("))
                return r->p--, read_struct(r);
        if (!word(r, name, "_"))
                return false;
        for (size_t i = 0; i < 5; i++)
                if (streq(name,
                          ((const char *[]){ "bool", "int", "float", "string", "object" })[i]))
                        return true;
        return isupper((unsigned char) *name) && strv_add(&r->used, name) == 0;
}

/* "(name: type, ...)" or "(name, ...)", the latter an enumeration. */
static bool read_struct(Reader *r) {
        Strv seen = {};
        bool good = token(r, "("), is_enum = false, first = true;

        while (good && !token(r, ")")) {
                char name[128];

                good = (first || token(r, ",")) && word(r, name, "_") && is_field_name(name) &&
                       !strv_contains(&seen, name) && strv_add(&seen, name) == 0;
                if (!good)
                        break;
                if (token(r, ":"))
                        good = (first || !is_enum) && read_type(r);
                else {
                        good = first || is_enum;
                        is_enum = true;
                }
                first = false;
        }
        strv_done(&seen);
        return good;
}

static bool read_member(Reader *r, Strv *names) {
        char name[128];

        return word(r, name, "") && isupper((unsigned char) *name) && !strv_contains(names, name) &&
               strv_add(names, name) == 0 && read_struct(r);
}

/* NULL, or where it went wrong. */
static const char *read_interface(Reader *r, const char *text) {
        *r = (Reader){ .p = text };
        if (!token(r, "interface ") || !word(r, r->interface, ".-") || !strchr(r->interface, '.'))
                return r->p;
        for (;;) {
                skip(r);
                if (!*r->p)
                        break;
                if (token(r, "type ")) {
                        if (!read_member(r, &r->types))
                                return r->p;
                } else if (token(r, "error ")) {
                        if (!read_member(r, &r->errors))
                                return r->p;
                } else if (token(r, "method ")) {
                        if (!read_member(r, &r->methods) || !token(r, "->") || !read_struct(r))
                                return r->p;
                } else
                        return r->p;
        }
        for (size_t i = 0; i < r->used.n; i++)
                if (!strv_contains(&r->types, r->used.items[i]))
                        return r->used.items[i];
        return NULL;
}

static const char *const texts[] = { interface_org_ftraced, interface_org_varlink_service };

START_TEST(both_interfaces_are_well_formed)
        {
                static const char *const names[] = { "org.ftraced", "org.varlink.service" };

                for (size_t i = 0; i < 2; i++) {
                        _cleanup_(reader_done) Reader r = {};
                        const char *wrong = read_interface(&r, texts[i]);

                        ck_assert_msg(!wrong, "%s: wrong here: %.60s", names[i], wrong);
                        ck_assert_str_eq(r.interface, names[i]);
                        ck_assert_uint_ge(r.methods.n, 2);
                }
        }
END_TEST

START_TEST(the_reader_finds_mistakes)
        {
                static const char *const bad[] = {
                        "",
                        "interface org",
                        "interface a.b method Foo()",
                        "interface a.b method foo() -> ()",
                        "interface a.b type T (a: int b: int)",
                        "interface a.b type T (a: int, a: int)",
                        "interface a.b type T (a: int, b)",
                        "interface a.b type T (a, b: int)",
                        "interface a.b type T (a: Missing)",
                        "interface a.b type T (a: integer)",
                        "interface a.b type T (a: int,)",
                        "interface a.b error E (x: int) error E ()",
                        "interface a.b rubbish",
                };

                for (size_t i = 0; i < ELEMENTSOF(bad); i++) {
                        _cleanup_(reader_done) Reader r = {};

                        ck_assert_msg(read_interface(&r, bad[i]) != NULL, "accepted: %s", bad[i]);
                }
        }
END_TEST

START_TEST(every_refusal_is_an_error_of_an_interface)
        {
                for (int kind = 0; kind < _REFUSAL_N; kind++) {
                        const char *name = refusal_error_name(kind);
                        size_t n = (size_t) (strrchr(name, '.') - name);
                        bool found = false;

                        for (size_t i = 0; i < 2; i++) {
                                _cleanup_(reader_done) Reader r = {};

                                ck_assert_ptr_null(read_interface(&r, texts[i]));
                                if (strlen(r.interface) == n && !strncmp(r.interface, name, n))
                                        found = strv_contains(&r.errors, name + n + 1);
                        }
                        ck_assert_msg(found, "no interface has %s", name);
                }
        }
END_TEST

START_TEST(every_error_of_an_interface_is_a_refusal)
        {
                for (size_t i = 0; i < 2; i++) {
                        _cleanup_(reader_done) Reader r = {};

                        ck_assert_ptr_null(read_interface(&r, texts[i]));
                        for (size_t k = 0; k < r.errors.n; k++) {
                                char name[300];

                                snprintf(name, sizeof(name), "%s.%s", r.interface,
                                         r.errors.items[k]);
                                ck_assert_msg(refusal_from_error_name(name) >= 0,
                                              "no refusal has the name %s", name);
                        }
                }
        }
END_TEST

UNIT_SUITE("interface", both_interfaces_are_well_formed, the_reader_finds_mistakes,
           every_refusal_is_an_error_of_an_interface, every_error_of_an_interface_is_a_refusal)
