/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is odd about a text: each kind of remark is counted, and the first few are kept with their place. */

#include "base/grow.h"
#include "import/text-trace-private.h"

const char *text_remark_name(TextRemark remark) {
        static const char *const names[TEXT_N_REMARKS] = {
                [TEXT_NOT_TRACE] = "not of a trace",
                [TEXT_DAMAGED] = "damaged",
                [TEXT_SIBLING] = "call before a late return",
                [TEXT_RETURN_CUT] = "return of a call before the beginning",
                [TEXT_RETURN_UNMATCHED] = "return without its call",
                [TEXT_CALL_UNMATCHED] = "call without its return",
                [TEXT_LEVEL_MISSING] = "level missing above a call",
                [TEXT_TASK_MISSED] = "change from a task that did not run",
                [TEXT_TIME_IMPOSSIBLE] = "shorter than what it called",
                [TEXT_COLUMNS_CHANGED] = "other columns than before",
                [TEXT_LOSS] = "loss",
                [TEXT_ANOTHER] = "another trace",
        };

        return names[remark];
}

int text_note(TextTrace *t, TextRemark remark, uint64_t line, const char *text, size_t n_text) {
        TextNote note = { .remark = remark, .line = line };

        if (t->is_trial && remark == TEXT_NOT_TRACE)
                return TEXT_TRY;
        if (!text_is_wanted(t) && remark != TEXT_ANOTHER)
                return 0;
        t->count.n_remarks[remark]++;
        if (t->n_noted[remark] == TEXT_NOTES_MAX)
                return 0;
        memcpy(note.text, text, MIN(n_text, sizeof(note.text) - 1));
        if (!ARRAY_ADD(t->notes, t->n_notes, note))
                return -ENOMEM;
        t->n_noted[remark]++;
        return 0;
}

int text_damaged(TextTrace *t, const Line *line, const char *problem) {
        int r;

        if (t->is_trial)
                return TEXT_TRY;
        if (line->is_last)
                problem = "the text ends in the middle of it";
        r = text_note(t, TEXT_DAMAGED, line->number, problem, strlen(problem));
        return r < 0 ? r : t->stops_at_damage && text_is_wanted(t) ? TEXT_TRACE_E_DAMAGED : 0;
}

int text_lost(TextTrace *t, const Line *line, uint32_t cpu, uint64_t timestamp_ns, uint64_t n,
              Step *ret) {
        t->count.n_losses++;
        t->count.n_lost += n;
        *ret = (Step){ .kind = STEP_LOST, .cpu = cpu, .timestamp_ns = timestamp_ns, .n_lost = n };
        return text_note(t, TEXT_LOSS, line->number, line->text, line->n_text) < 0 ? -ENOMEM : 1;
}

int text_note_frame(TextTrace *t, const Frame *frame) {
        return text_note(t, TEXT_CALL_UNMATCHED, frame->n_line, frame->function->label,
                         frame->function->n_label);
}

int text_note_return(TextTrace *t, const Stack *stack, const Frame *frame, const Step *step,
                     uint64_t line) {
        TextRemark remark = step->depth < stack->floor ? TEXT_RETURN_CUT : TEXT_RETURN_UNMATCHED;

        if (frame) {
                uint64_t duration_ns = step_duration_ns(step);

                if (step->said->untimed || frame->below_ns <= duration_ns)
                        return 0;
                remark = TEXT_TIME_IMPOSSIBLE;
                line = frame->n_line;
        }
        return text_note(t, remark, line, step->function->label, step->function->n_label);
}

int text_push(Stack *stack, const Step *step, uint64_t line) {
        Frame *frame = stack_push(stack, step->function, step->depth);

        if (!frame)
                return -ENOMEM;
        frame->start_ns = step->timestamp_ns;
        frame->n_line = line;
        return 0;
}
