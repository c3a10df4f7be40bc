/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/cleanup.h"
#include "daemon/lean/ordinary.h"

static const char *const names[] = {
#include "daemon/lean/ordinary-names.h"
};

int ordinary_find(const Functions *f, Strv *ret) {
        int r = 0;

        for (size_t i = 0; r >= 0 && i < ELEMENTSOF(names); i++)
                if (functions_contain(f, names[i]))
                        r = strv_add(ret, names[i]);
        return r;
}
