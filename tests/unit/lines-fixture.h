/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lines of the small kernel that lines-sample.c is, for functions by their names. */

#include "lines/lines.h"
#include "unit.h"

#define SAMPLE_BUILD_ID "00112233445566778899aabbccddeeff00112233"

/* A Function of a recording that has this label. */
static inline Function sample_function(const char *label) {
        const char *module = strstr(label, " [");

        return (Function){ .label = label,
                           .n_label = (uint32_t) strlen(label),
                           .n_name =
                                   (uint32_t) (module ? (size_t) (module - label) : strlen(label)),
                           .root = -1 };
}

/* Where the samples are. */
static inline char *sample_path(char path[static 4096], const char *name) {
        (void) snprintf(path, 4096, "%s/tests/unit/lines/%s", getenv("top_builddir") ?: ".", name);
        return path;
}
#define SAMPLE_PATH(name) sample_path((char[4096]){}, (name))

static inline Lines *sample_open(const char *path, const LinesRecording *recording) {
        static const LinesRecording none = { .symbols_fd = -EBADF };
        LinesPlace place = { .vmlinux = path };
        _cleanup_free_ char *problem = NULL;
        Lines *l = NULL;
        int r = lines_open(&l, recording ?: &none, &place, &problem);

        ck_assert_msg(r == 0, "%s", problem ?: strerror(-r));
        return l;
}

/* "net/ipv4/outer.c:51 [inner] include/net/inner.h:41 ..." of the sites that @possible has, each a line. */
static inline char *sample_sites_text(const LineSites *s, uint64_t possible) {
        static const char *const answers[] = { [LINES_UNKNOWN] = "unknown",
                                               [LINES_DIRECT] = "direct",
                                               [LINES_INDIRECT] = "indirect",
                                               [LINES_NONE] = "none",
                                               [LINES_INTERRUPT] = "interrupt" };
        _cleanup_buf_ Buf out = BUF_INIT;
        char *text;

        buf_adds(&out, answers[s->answer]);
        for (uint32_t i = 0; i < s->n_sites; i++) {
                const LineSite *site = &s->sites[i];

                if (!(possible & UINT64_C(1) << i))
                        continue;
                buf_adds(&out, site->is_jump ? "\njump" : "\n");
                for (uint32_t k = 0; k < site->n_frames; k++)
                        buf_printf(&out, " %s%s%s %s:%u", site->frames[k].is_untraced ? "!" : "",
                                   site->frames[k].function, k == 0 ? "" : "()",
                                   site->frames[k].file ?: "?", site->frames[k].line);
        }
        ck_assert_int_eq(buf_take_string(&out, &text), 0);
        return text;
}

/* The functions that tests ask for; they live as long as the Lines that know them. */
typedef struct Asked {
        Function functions[32];
        size_t n;
} Asked;

static inline const Function *asked(Asked *a, const char *label) {
        for (size_t i = 0; i < a->n; i++)
                if (streq(a->functions[i].label, label))
                        return &a->functions[i];
        ck_assert_uint_lt(a->n, ELEMENTSOF(a->functions));
        a->functions[a->n] = sample_function(label);
        return &a->functions[a->n++];
}

#define EXPECT_SITES(l, a, caller, callee, text)                                                   \
        do {                                                                                       \
                const LineSites *are =                                                             \
                        lines_sites((l), asked((a), (caller)), asked((a), (callee)));              \
                _cleanup_free_ char *is = sample_sites_text(are, UINT64_MAX);                      \
                ck_assert_str_eq(is, (text));                                                      \
        } while (0)

/* What the sample says, wherever it was read from. */
static inline void expect_sample(Lines *l, Asked *a) {
        EXPECT_SITES(
                l, a, "outer", "leaf",
                "direct\n outer net/ipv4/outer.c:51 inner() include/net/inner.h:41 innermost() "
                "include/net/inner.h:31");
        EXPECT_SITES(l, a, "twice", "leaf",
                     "direct\n twice net/ipv4/twice.c:61\n twice net/ipv4/twice.c:63");
        EXPECT_SITES(l, a, "by_pointer", "other", "indirect\n by_pointer net/ipv4/pointer.c:91");
        EXPECT_SITES(l, a, "by_thunk", "other", "indirect\n by_thunk net/ipv4/thunk.c:191");
        EXPECT_SITES(l, a, "beside", "other",
                     "direct\n beside net/ipv4/pointed.c:203\n beside net/ipv4/pointed.c:202");
#ifdef __x86_64__ /* elsewhere nobody knows what has an address */
        EXPECT_SITES(l, a, "beside", "leaf", "direct\n beside net/ipv4/pointed.c:204");
        EXPECT_SITES(l, a, "by_pointer", "leaf", "none");
#endif
        EXPECT_SITES(l, a, "through", "leaf",
                     "direct\n through net/ipv4/through.c:111 !hidden() net/ipv4/hidden.c:101");
        EXPECT_SITES(l, a, "deep", "leaf",
                     "direct\n deep net/ipv4/deep.c:181 !deeper() net/ipv4/deep.c:171 !hidden() "
                     "net/ipv4/hidden.c:101");
        EXPECT_SITES(l, a, "tail", "other", "direct\njump tail net/ipv4/tail.c:122");
        EXPECT_SITES(l, a, "unrolled", "leaf", "direct\n unrolled net/ipv4/unrolled.c:132");
        EXPECT_SITES(l, a, "leaf", "other", "none");
        EXPECT_SITES(l, a, "leaf", "nowhere", "unknown");
        EXPECT_SITES(l, a, "nowhere", "leaf", "unknown");
}
