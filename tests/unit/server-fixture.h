/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A real Server on a real loop in a child process, and what its peers need. */

#include <stddef.h>
#include <sys/types.h>

#include "cli/contact/contact.h"
#include "unit.h"

extern pid_t server_pid;

void start_server(void);
void stop_server(void); /* it must end by itself and with success */
static inline void stop_serverp(const pid_t *pid) {
        stop_server();
}
/* One until the end of the block. */
#define SERVER_CASE                                                                                \
        _cleanup_(stop_serverp) const pid_t pid __attribute__((unused)) =                          \
                (start_server(), server_pid)
#define SERVER_TEST(name) TEST_WITH(name, (void), SERVER_CASE, )
#define _cleanup_client_ _cleanup_(client_freep)

void let_group_in(gid_t group); /* its members may call Echo and Keep */
void check_alive(void);         /* it still serves a new connection */

Client *connect_client(void);
json_t *call(Client *c, const char *method); /* must succeed; the parameters of the reply */
void release_kept(Client *c); /* answers the call of Keep, which must come yet or has */
/* The call is refused so; @member of the refusal's parameters, unless NULL, is the text @value. */
void check_refused(Client *c, const char *method, json_t *parameters, RefusalKind kind,
                   const char *member, const char *value);

int connect_raw(void);
void put(int fd, const char *data, size_t n);
void put_text(int fd, const char *text); /* with its NUL */
/* For what comes sooner or later, however busy the machine is. */
#define PATIENCE_MS (60 * 1000)
/* All that comes until @n NULs, the end, or PATIENCE_MS of silence; the number of NULs. */
size_t get(int fd, char *text, size_t size, size_t n);
bool is_closed(int fd, int ms); /* the peer has closed, within @ms */
