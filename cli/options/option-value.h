/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The kinds of options, of which the table in options.c says where their values go. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options/options.h"

typedef enum OptionKind {
        OPTION_FLAG,   /* bool */
        OPTION_TEXT,   /* const char * */
        OPTION_NAME,   /* char *, malloc()ed, that is_valid() */
        OPTION_WORDS,  /* Strv; commas separate, repetitions add; each is_valid(), if that is set */
        OPTION_NAMES,  /* Strv of values that is_valid(); repetitions add */
        OPTION_NUMBER, /* uint64_t up to max */
        OPTION_BYTES,  /* uint64_t */
        OPTION_DURATION, /* uint64_t [ns] */
        OPTION_PERCENT,  /* uint64_t [millionths] */
        OPTION_LEAN,
        OPTION_JSON_MODE, /* its value is optional */
        OPTION_WAIT,      /* uint64_t [ns]; its value is optional */
        OPTION_CHOICE,    /* an enum, whose value choose() finds */
        OPTION_ON,
        OPTION_DO,
        OPTION_KEEP,     /* its value is optional: a flag, or uint64_t up to max */
        OPTION_CAPTURES, /* "3" or "20/day" */
        OPTION_SET,      /* json_t *: members of a Spec; repetitions add */
        OPTION_FLAG_OF,  /* its value is optional: bool, or words for the Strv at `list` instead */
} OptionKind;

typedef struct Option {
        const char *name;
        char letter; /* 0: none */
        uint64_t groups;
        OptionKind kind;
        size_t offset;
        const char *value; /* its name in help */
        const char *help;
        uint64_t min, max;
        int (*choose)(const char *word); /* its value, or negative */
        bool takes_all;                  /* "all" is UINT64_MAX */
        bool (*is_valid)(const char *);
        const char *noun;  /* what is_valid() lets through */
        const char *verbs; /* behind others the letter is another option's; NULL: of all */
        size_t list;
} Option;

/* Says what is wrong with the command line, and where help is; STATUS_USAGE. */
int option_usage(const char *verb, const char *format, ...) _printf_(2, 3);
bool option_has_optional_value(const Option *option);
/* @value: NULL if the option has none.  An exit status. */
int option_set_value(Options *o, const Option *option, const char *value);
