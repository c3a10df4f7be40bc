/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stddef.h>

#include "export/call-row.h"

#define AT(member) offsetof(CallRow, member)

const CallColumn call_columns[] = {
        { "id", CALL_U64, AT(id), 0 },
        { "parent", CALL_U64, AT(parent), AT(has_parent) },
        { "start_ns", CALL_U64, AT(start_ns), 0 },
        { "duration_ns", CALL_U64, AT(duration_ns), 0 },
        { "self_ns", CALL_U64, AT(self_ns), 0 },
        { "blocked_ns", CALL_U64, AT(blocked_ns), 0 },
        { "irq_ns", CALL_U64, AT(irq_ns), 0 },
        { "cpu", CALL_U64, AT(cpu), AT(has_cpu) },
        { "pid", CALL_I64, AT(pid), AT(has_pid) },
        { "task", CALL_TEXT, AT(task), 0 },
        { "depth", CALL_I64, AT(depth), 0 },
        { "function", CALL_TEXT, AT(function), 0 },
        { "module", CALL_TEXT, AT(module), 0 },
        { "root", CALL_TEXT, AT(root), 0 },
        { "cut", CALL_BOOL, AT(is_cut), 0 },
        { "retval", CALL_I64, AT(retval), AT(has_retval) },
};
const size_t call_columns_n = ELEMENTSOF(call_columns);

void call_row_fill(CallRow *ret, const Call *call) {
        const Frame *frame = call->frame;
        const Function *f = frame->function;

        *ret = (CallRow){
                .id = frame->number,
                .parent = frame->parent,
                .has_parent = frame->parent != 0,
                .start_ns = frame->start_ns,
                .duration_ns = call->duration_ns,
                .self_ns = call->self_ns,
                .blocked_ns = frame->blocked_ns + call->blocked_ns,
                .irq_ns = frame->irq_ns,
                .cpu = call->cpu,
                .has_cpu = call->has_end,
                .pid = call->stack->pid,
                .has_pid = call->stack->pid >= 0,
                .depth = frame->depth,
                .is_cut = call->is_cut,
                .retval = (int64_t) call->retval,
                .has_retval = call->has_retval,
        };
        if (call->stack->comm[0]) {
                ret->task.text = call->stack->comm;
                ret->task.n = (uint32_t) strlen(call->stack->comm);
        }
        ret->function.text = f->label;
        ret->function.n = f->n_name;
        if (f->n_label > f->n_name + 3) {
                ret->module.text = f->label + f->n_name + 2;
                ret->module.n = f->n_label - f->n_name - 3;
        }
        ret->root.text = frame->root->label;
        ret->root.n = frame->root->n_name;
}
