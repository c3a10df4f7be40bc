/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A module of lines-sample.c's kernel: it is relocatable. */

void leaf(int n);
void module_leaf(void);
void module_caller(void);

extern volatile int sink;

#line 10 "drivers/sample/sample.c"
__attribute__((noinline)) void module_leaf(void) {
        sink++;
}

#line 20 "drivers/sample/sample.c"
void module_caller(void) {
        leaf(7);
        module_leaf();
        sink++;
}
