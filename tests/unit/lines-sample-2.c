/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The rest of lines-sample.c: another function of a name that one there has. */

extern volatile int sink;
void leaf(int n);

#line 160 "net/ipv6/same.c"
static __attribute__((noinline, used)) void same(void) {
        sink++;
        leaf(5);
        sink++;
}
