/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Profile: a recording that has a name
 *
 *      [Profile]
 *      Description=What UDP does to send
 *      Functions=udp_sendmsg udpv6_sendmsg
 *      Duration=10min
 *
 * In profiles.d/NAME.conf with its drop-ins, profiles.d/NAME.conf.d/DROP-IN.conf (base/ini.h).
 * Each key stands for one member of a Spec, by the table in spec.c.  Keys that take several words
 * add to what was said before; an empty value forgets it.  Unlike ftraced.conf, a profile with
 * anything wrong in it is not used: a line that is left out may be the one that limits it.
 */

#include "meta/spec.h"

#define PROFILE_DIR "profiles.d"
#define PROFILE_MAX_PROBLEMS 100 /* that are kept */

typedef struct Profile {
        char *name;        /* as a session's; NULL: a file by itself */
        char *description; /* NULL: none */
        uint64_t wait_ns;  /* how long a start waits for what another one uses; 0: not at all */
        json_t *spec;      /* what is said of a Spec: members, perhaps without functions */
        json_t *settings;  /* the lines that count, in order, as the wire has them */
        Strv files;        /* that were read, in order */
        Strv problems;     /* "FILE:LINE: ..." without a full stop; none: it may be used */
} Profile;

#define PROFILE_INIT ((Profile){})

int profile_list(Strv *ret,
                 const char *root); /* names, also of hidden ones; sorted.  0 or -ENOMEM */
/* The profile that is most like @name, or NULL if none is; the caller frees.  0 or -ENOMEM. */
int profile_suggest(char **ret, const char *root, const char *name);

/*
 * profile_load() - read all files of @name, which is valid
 * @ret:  profile_done() it
 * @root: before every path; NULL: none
 *
 * Return: 0; PROFILE_E_NOT_FOUND; PROFILE_E_HIDDEN (its file is empty, or a link to /dev/null);
 * -ENOMEM.  What else stands in the way is a problem.
 */
enum { PROFILE_E_NOT_FOUND = 1, PROFILE_E_HIDDEN = 2 };
int profile_load(Profile *ret, const char *root, const char *name);
/* One file, without drop-ins.  0, or -errno: it cannot be read. */
int profile_load_file(Profile *ret, const char *path);
/* The text of one more file, said to be @file; changed meanwhile.  0 or -ENOMEM. */
int profile_parse(Profile *p, const char *file, char *text, size_t n_text);
void profile_done(Profile *p);
#define _cleanup_profile_ _cleanup_(profile_done)

/* As the wire has it (org.ftraced.varlink, type Profile); NULL without memory. */
json_t *profile_to_json(const Profile *p);

/*
 * Sample: which hosts of a fleet record what is a sample
 *
 * A profile that is on every host says Sample=1%, and every host decides by itself, by a hash of its
 * machine-id(5) and of the day in UTC: each day others.  Whoever adds up what the hosts recorded of a day multiplies each
 * row by its weight, the inverse of the share, and has an estimate of what all would have recorded.
 *
 * Hosts that share a machine id, as clones by mistake do, are in or out together.
 */
#define SAMPLE_ID_BYTES 32 /* hexadecimal digits of a machine id */

/* True if the host with @machine_id, of SAMPLE_ID_BYTES, is among @ppm millionths at @now_ns of
 * CLOCK_REALTIME.  0 is no sample, and has all. */
bool sample_has(const char *machine_id, uint64_t now_ns, uint64_t ppm);
/* The same of this host now; *@ret.  0, or -errno: /etc/machine-id cannot be read, or holds none. */
int sample_has_us(bool *ret, uint64_t ppm);
/* How many hosts one of them stands for. */
static inline double sample_weight(uint64_t ppm) {
        return ppm > 0 ? (double) SAMPLE_ALL_PPM / (double) ppm : 1;
}
