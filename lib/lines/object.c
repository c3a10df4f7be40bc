/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The code of the kernel or of a module, from wherever it is: an image, or a lines file. */

#include "lines/lines-private.h"

int object_caller(LinesObject *o, uint32_t symbol, LinesCaller **ret) {
        int r = 0;

        if (!(o->marks[symbol] & OBJECT_HAS_CALLER)) {
                r = o->image ? walk_caller(&o->callers[symbol], o->image, &o->symbols, symbol)
                             : lines_file_caller(o->file, o->in_file, symbol, &o->callers[symbol]);
                if (r == -ENOMEM)
                        return r;
                o->marks[symbol] |= OBJECT_HAS_CALLER; /* what is damaged is not known */
        }
        *ret = o->callers[symbol];
        return 0;
}

int object_frames(LinesObject *o, uint32_t symbol, LinesNode *node) {
        int r = 0;

        if (!node->is_resolved && o->image)
                r = image_frames(o->image, &o->symbols.items[symbol], node);
        node->is_resolved = r >= 0;
        return r;
}

bool object_is_traced(LinesObject *o, uint32_t symbol) {
        uint8_t *mark = &o->marks[symbol];

        if (!(*mark & OBJECT_HAS_TRACED)) {
                bool is =
                        o->image ? walk_is_traced(o->image, &o->symbols, symbol)
                                 : o->file->objects[o->in_file].more[symbol].flags & FILE_IS_TRACED;

                *mark |= OBJECT_HAS_TRACED | (is ? OBJECT_IS_TRACED : 0);
        }
        return *mark & OBJECT_IS_TRACED;
}

bool object_is_pointed(LinesObject *o, uint32_t symbol) {
        if (!o->image)
                return o->file->objects[o->in_file].more[symbol].flags & FILE_IS_POINTED;
        if (!TAKE(o->has_pointed, true))
                image_find_pointed(o->image, &o->symbols, o->marks, OBJECT_IS_POINTED);
        return o->marks[symbol] & OBJECT_IS_POINTED;
}

bool object_definition(LinesObject *o, uint32_t symbol, LineFrame *ret) {
        return o->image ? image_definition(o->image, &o->symbols.items[symbol], ret)
                        : lines_file_definition(o->file, o->in_file, symbol, ret);
}

LinesObject *object_free(LinesObject *o) {
        if (!o)
                return NULL;
        for (size_t i = 0; o->callers && i < o->symbols.n; i++)
                (void) lines_caller_free(o->callers[i]);
        free(o->callers);
        free(o->marks);
        code_symbols_done(&o->symbols);
        image_freep(&o->image);
        free(o->origin);
        free(o->module);
        return mfree(o);
}
