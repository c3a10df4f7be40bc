/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/user.h"

#define USERS_MAX 4096

const char *format_user(char ret[USER_TEXT_MAX], uid_t uid) {
        _cleanup_fclose_ FILE *f = fopen("/etc/passwd", "re");
        const struct passwd *user;

        (void) snprintf(ret, USER_TEXT_MAX, "uid %u", (unsigned) uid);
        for (size_t n = 0; f && n < USERS_MAX && (user = fgetpwent(f)); n++)
                if (user->pw_uid == uid && strlen(user->pw_name) < USER_TEXT_MAX) {
                        (void) strcpy(ret, user->pw_name);
                        break;
                }
        return ret;
}
