/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A kernel to find lines in, for test-lines-sample.c: never run.  #line says where each function is. */

typedef void (*Pointer)(void);

volatile int sink;

#if __has_attribute(noipa)
#define KEPT __attribute__((noipa, used))
#else
#define KEPT __attribute__((noinline, used))
#endif
#define HIDDEN KEPT __attribute__((no_instrument_function, patchable_function_entry(0)))
#define INLINED static inline __attribute__((always_inline))

HIDDEN void __fentry__(void) {
}

#line 10 "net/core/leaf.c"
KEPT void leaf(int n) {
        sink += n;
}

#line 20 "net/core/other.c"
KEPT void other(void) {
        sink++;
}

#line 30 "include/net/inner.h"
INLINED void innermost(int n) {
        leaf(n);
        sink++;
}

#line 40 "include/net/inner.h"
INLINED void inner(int n) {
        innermost(n + 1);
        sink++;
}

#line 50 "net/ipv4/outer.c"
KEPT void outer(int n) {
        inner(n);
        sink++;
}

#line 60 "net/ipv4/twice.c"
KEPT void twice(void) {
        leaf(1);
        other();
        leaf(2);
        sink++;
}

#line 70 "net/ipv4/either.c"
KEPT void either(int n) {
        if (n)
                leaf(1);
        else {
                other();
                leaf(2);
        }
        sink++;
}

#line 80 "net/ipv4/loop.c"
KEPT void loop(int n) {
        while (n--) {
                leaf(1);
                other();
        }
        leaf(2);
        sink++;
}

#line 90 "net/ipv4/pointer.c"
KEPT void by_pointer(Pointer f) {
        f();
        sink++;
}

#line 100 "net/ipv4/hidden.c"
HIDDEN void hidden(void) {
        leaf(3);
        sink++;
}

#line 110 "net/ipv4/through.c"
KEPT void through(void) {
        hidden();
        sink++;
}

#line 120 "net/ipv4/tail.c"
KEPT void tail(void) {
        sink++;
        other();
}

#line 130 "net/ipv4/unrolled.c"
KEPT void unrolled(int n) {
        switch (n) {
        case 1: leaf(1); sink++; break; case 2: leaf(2); sink += 2; break;
        }
}

/* Two functions of one name, as static ones of two files. */
#line 140 "net/ipv4/same.c"
static void same_one(void) __asm__("same");
static KEPT void same_one(void) {
        leaf(4);
        sink++;
}

#line 170 "net/ipv4/deep.c"
HIDDEN void deeper(void) {
        hidden();
        sink++;
}

#line 180 "net/ipv4/deep.c"
KEPT void deep(void) {
        deeper();
        sink++;
}

/* What a compiler calls for a pointer, and the end of what lies in front of it. */
HIDDEN void __x86_indirect_thunk_array(void) {
}
void __softirqentry_text_end(void) __attribute__((alias("__x86_indirect_thunk_array")));

#line 190 "net/ipv4/thunk.c"
KEPT void by_thunk(void) {
        __x86_indirect_thunk_array();
        sink++;
}

/* Called by a pointer, or not. */
void deep(void);
#line 200 "net/ipv4/pointed.c"
Pointer pointed[] = { other, deep };
KEPT void beside(Pointer f) {
        f();
        other();
        leaf(6);
        sink++;
}

#line 150 "init/main.c"
KEPT void start_kernel(void) {
        outer(1);
        same_one();
}
