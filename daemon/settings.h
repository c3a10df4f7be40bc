/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Settings: ftraced.conf and its drop-ins, as they count now
 *
 * At the start what is wrong in them is left out, so that a daemon always starts.  Later they are read
 * again all or nothing: with anything wrong what was read before stays.
 */

#include "meta/config.h"

typedef struct Settings {
        Config config;
        Limits limits; /* refers to the Config */
} Settings;

/* Reads them for the first time.  @store_fd: some are shares of its disk.  0 or -errno; @problems are
 * sentences.  settings_done() it. */
int settings_load(Settings *s, const char *root, const char *file, int store_fd, Strv *problems);
/* Reads them again.  0; SETTINGS_E_PROBLEMS and -errno: nothing has changed. */
enum { SETTINGS_E_PROBLEMS = 1 };
int settings_reload(Settings *s, const char *root, const char *file, int store_fd, Strv *problems);
/* Whether nothing is wrong in them: 0, or -errno and said. */
int settings_check(const char *root, const char *file);
/* The same, and prints what counts in the form of a file, each line with where it is from; what is
 * wrong is no failure. */
int settings_print(const char *root, const char *file);
void settings_done(Settings *s);
