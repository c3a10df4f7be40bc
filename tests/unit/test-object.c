/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <arpa/inet.h>
#include <sys/socket.h>

#include "decode/object.h"
#include "unit.h"

/* An event whose record has a field every 16 bytes from the 16th on, and texts behind them. */
typedef struct ObjectRecord {
        Buf format;
        _Alignas(8) uint8_t bytes[4096];
        uint32_t n_fields, n_bytes;
} ObjectRecord;

static ObjectRecord record_of(uint32_t n_fields) {
        ObjectRecord r = { .format = BUF_INIT, .n_bytes = 16 + 16 * n_fields };

        buf_adds(&r.format, "name: it\nID: 1530\nformat:\n"
                            "\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n");
        return r;
}

static uint8_t *declare(ObjectRecord *r, const char *type, const char *name, const char *array,
                        unsigned size) {
        uint32_t offset = 16 + 16 * r->n_fields++;

        buf_printf(&r->format, "\tfield:%s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type, name,
                   array, offset, size, *type == 's');
        return r->bytes + offset;
}

static void number(ObjectRecord *r, const char *type, const char *name, uint64_t v) {
        unsigned size = (unsigned) atoi(type + 1) / 8;

        memcpy(declare(r, type, name, "", size), &v, size);
}

static void bytes(ObjectRecord *r, const char *type, const char *name, const void *from,
                  unsigned n) {
        memcpy(declare(r, type, name, n == 16 ? "[16]" : "", n), from, n);
}

static void text(ObjectRecord *r, const char *name, const char *s) {
        uint32_t n = (uint32_t) strlen(s) + 1, where = n << 16 | r->n_bytes;

        memcpy(declare(r, "__data_loc char[]", name, "", 4), &where, 4);
        memcpy(r->bytes + r->n_bytes, s, n);
        r->n_bytes += n;
}

static void path(ObjectRecord *r, const char *parts) {
        char name[] = "p0_file";

        for (char part[64]; sscanf(parts, "%63s", part) == 1; name[1]++) {
                text(r, name, part);
                parts = strstr(parts, part) + strlen(part);
        }
}

/* NULL: nothing.  Frees the record's text. */
static Object *read_object(ObjectRecord *r) {
        const Event e = { .kind = EVENT_OTHER, .payload = r->bytes, .n_bytes = r->n_bytes };
        const Formats formats = {};
        _cleanup_buf_ Buf scratch = BUF_INIT;
        _cleanup_free_ char *format = NULL;
        ProbeFormat p;
        Object *o;

        ck_assert_int_eq(buf_take_string(&r->format, &format), 0);
        ck_assert_int_eq(formats_parse_probe(&p, format, PROBE_GIVEN), 0);
        ck_assert(!p.has_args);
        ck_assert_int_eq(object_new(&o, &scratch, &p, &formats, &e), 0);
        free(p.fields);
        return o;
}

static void expect(ObjectRecord *r, const char *wanted) {
        _cleanup_free_ Object *o = read_object(r);

        ck_assert_str_eq(o ? object_text(o) : "", wanted);
}

TEST(numbers_have_their_format_s_size_and_sign) {
        ObjectRecord r = record_of(9);

        number(&r, "u8", "u_a", 200);
        number(&r, "u64", "u_b", UINT64_MAX);
        number(&r, "s32", "d_c", (uint64_t) -5);
        number(&r, "u16", "x_d", 0xbeef);
        number(&r, "u16", "be_port", htons(53));
        number(&r, "u64", "be_big", htobe64(1));
        number(&r, "u32", "dev_disk", 8 << 20 | 1);
        number(&r, "u32", "u__", 1);
        number(&r, "u32", "u_n_m", 2);
        expect(&r, "a=200, b=18446744073709551615, c=-5, d=0xbeef, port=53, big=1, disk=8:1, _=1, "
                   "n_m=2");
}

TEST(addresses_of_another_family_are_left_out) {
        struct in6_addr six;
        uint32_t four = htonl(0x7f000001);

        inet_pton(AF_INET6, "fe80::1", &six);
        for (unsigned family = 0; family < 12; family++) {
                ObjectRecord r = record_of(10);

                number(&r, "u16", "be_always", htons(1));
                number(&r, "u16", "fam_sk", family);
                number(&r, "u32", "u_len", 64);
                number(&r, "u16", "be_dport", htons(53));
                bytes(&r, "u32", "ip4_daddr", &four, 4);
                bytes(&r, "u8", "ip6_daddr6", &six, 16);
                bytes(&r, "u8", "ip6_saddr6", &six, 16);
                number(&r, "u16", "be_to_port", 0);
                bytes(&r, "u32", "ip4_to", &(uint32_t){ 0 }, 4);
                bytes(&r, "u8", "ip6_to6", &in6addr_any, 16);
                expect(&r, family == AF_INET ? "always=1, len=64, dport=53, daddr=127.0.0.1"
                           : family == AF_INET6
                                   ? "always=1, len=64, dport=53, daddr=fe80::1, saddr6=fe80::1"
                                   : "always=1, len=64");
        }
}

/* A raw socket has its protocol where others have a port. */
TEST(raw_sockets_and_those_of_no_network_have_no_ports) {
        static const struct {
                uint16_t family, type;
                const char *wanted;
        } cases[] = {
                { AF_INET, SOCK_DGRAM, "sport=89, dport=53, len=64" },
                { AF_INET6, SOCK_STREAM, "sport=89, dport=53, len=64" },
                { AF_INET, SOCK_RAW, "len=64" },
                { AF_INET6, SOCK_RAW, "len=64" },
                { AF_UNIX, SOCK_DGRAM, "len=64" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ObjectRecord r = record_of(5);

                number(&r, "u16", "fam_family", cases[i].family);
                number(&r, "u16", "st_type", cases[i].type);
                number(&r, "u16", "po_sport", 89);
                number(&r, "u16", "be_dport", htons(53));
                number(&r, "u32", "u_len", 64);
                expect(&r, cases[i].wanted);
        }
}

TEST(numbers_behind_a_pointer_that_is_none_were_not_read) {
        static const struct {
                uint64_t first, second, third;
                const char *wanted;
        } cases[] = {
                { 0xffff888003d5c000, 0xffff888003d5c000, 0xffff888003d5c000, "n=7, comm=x, m=8" },
                { 0xffff888003d5c000, 0, 0xffff888003d5c000, "comm=x, m=8" },
                { 0xfff, 0xffff888003d5c000, 0xffff888003d5c000, "comm=x, m=8" },
                { (uint64_t) -11, 0xffff888003d5c000, 1, "comm=x" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ObjectRecord r = record_of(6);

                number(&r, "u64", "at_0", cases[i].first);
                number(&r, "u64", "at_1", cases[i].second);
                number(&r, "u32", "u_n", 7);
                text(&r, "s_comm", "x");
                number(&r, "u64", "at_2", cases[i].third);
                number(&r, "u32", "u_m", 8);
                expect(&r, cases[i].wanted);
        }
}

TEST(a_path_ends_at_its_root_or_says_that_it_does_not) {
        static const struct {
                const char *parts, *wanted;
        } cases[] = {
                { "x log /", "file=/log/x" },  { "x log / /", "file=/log/x" },
                { "x log", "file=.../log/x" }, { "x log (fault) /", "file=.../log/x" },
                { "(fault) log /", "" },       { "/", "file=/" },
                { "[event] [event] [event]", "file=[event]" }, { "x a a a", "file=.../a/a/a/x" },
                { "a,b /", "file=\"/a,b\"" },  { "1 2 3 4 5 6 7 8", "file=.../8/7/6/5/4/3/2/1" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ObjectRecord r = record_of(8);

                path(&r, cases[i].parts);
                expect(&r, cases[i].wanted);
        }
}

TEST(texts_are_plain_and_told_apart_from_what_stands_around_them) {
        static const struct {
                const char *text, *wanted;
        } cases[] = {
                { "client", "comm=client" },
                { "Web Content", "comm=\"Web Content\"" },
                { "a, dport=53", "comm=\"a, dport=53\"" },
                { "a\"b", "comm=\"a\\x22b\"" },
                { "a\nb\033[2J\x80", "comm=a\\x0ab\\x1b[2J\\x80" },
                { "\xc3\xa9", "comm=\xc3\xa9" },
                { "", "" },
                { "(fault)", "" },
        };

        for (size_t i = 0; i < ELEMENTSOF(cases); i++) {
                ObjectRecord r = record_of(1);

                text(&r, "s_comm", cases[i].text);
                expect(&r, cases[i].wanted);
        }
}

TEST(a_field_is_found_by_its_name_and_outlives_its_event) {
        ObjectRecord r = record_of(3);
        _cleanup_free_ Object *o = NULL, *copy = NULL;
        const ObjectField *f;

        number(&r, "s64", "d_left", (uint64_t) -7);
        text(&r, "s_comm", "a b");
        number(&r, "u8", "be_short", 1); /* no size that it may have */
        o = read_object(&r);
        copy = object_copy(o);
        ck_assert_uint_eq(copy->n, 2);
        f = object_find(copy, "left");
        ck_assert(f && f->is_number && f->number.is_negative && f->number.magnitude == 7);
        f = object_find(copy, "comm");
        ck_assert(f && !f->is_number && f->n_value == 3);
        ck_assert(memcmp(object_text(copy) + f->value, "a b", 3) == 0);
        ck_assert_ptr_null(object_find(copy, "lef"));
        ck_assert_ptr_null(object_find(NULL, "left"));
        ck_assert_ptr_null(object_copy(NULL));
}

TEST(texts_that_lie_beyond_the_record_are_cut) {
        static const uint32_t places[] = { 0xffffffff, 0xffff0000, 64U << 16 | 4000, 0x0001ffff };

        for (size_t i = 0; i < ELEMENTSOF(places); i++) {
                ObjectRecord r = record_of(33);
                _cleanup_free_ Object *o = NULL;

                for (char name[] = "s_a"; name[2] <= 'z'; name[2]++)
                        memcpy(declare(&r, "__data_loc char[]", name, "", 4), &places[i], 4);
                memset(r.bytes, 'x', 16);
                o = read_object(&r);
                ck_assert(!o || o->n_text < 16384 + 64);
        }
}

TEST(fields_of_unknown_kinds_sizes_and_names_are_left_out) {
        static const char *const others[] = {
                "u64 q_a",
                "u64 u_",
                "u64 u_1",
                "u64 p0_file",
                "u64 s_comm",
                "u64 ip4_a",
                "u64 dev_a",
                "u64 u_a[4]",
                "__data_loc char[] u_a",
                "__data_loc char[] p8_a",
                "__data_loc char[] p_a",
                "u64 u_a-b",
                "u64 u_12345678901234567890123456789x",
        };

        for (size_t i = 0; i < ELEMENTSOF(others); i++) {
                ObjectRecord r = record_of(1);
                _cleanup_free_ char *format = NULL;
                ProbeFormat p;

                buf_printf(&r.format, "\tfield:%s;\toffset:16;\tsize:%d;\tsigned:0;\n", others[i],
                           *others[i] == 'u' ? 8 : 4);
                ck_assert_int_eq(buf_take_string(&r.format, &format), 0);
                ck_assert_msg(formats_parse_probe(&p, format, PROBE_GIVEN) == FORMATS_E_INVALID,
                              "%s", others[i]);
        }
}

TEST(no_more_fields_are_taken_than_there_may_be) {
        ObjectRecord r = record_of(80);
        _cleanup_free_ Object *o = NULL;

        for (char name[] = "u_a0"; name[3] <= '9'; name[3]++)
                for (name[2] = 'a'; name[2] <= 'h'; name[2]++)
                        number(&r, "u32", name, 1);
        o = read_object(&r);
        ck_assert_uint_eq(o->n, PROBE_FIELDS_MAX);
}
