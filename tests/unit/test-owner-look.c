/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A directory stands for /: its proc/ has two tasks, and docker's files have a name for a container. */

#include "daemon/watch/watch.h"
#include "owner/owners.h"
#include "scratch.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CONFIG "var/lib/docker/containers/" ID "/config.v2.json"

static void put_task(const Scratch *s, const char *pid, unsigned uid, const char *group) {
        char path[128], text[256];

        (void) snprintf(path, sizeof(path), "proc/%s/task/%s/status", pid, pid);
        (void) snprintf(text, sizeof(text), "Name:\tx\nUid:\t%u\t%u\t%u\t%u\n", uid, uid, uid, uid);
        scratch_put(s, path, text);
        (void) snprintf(path, sizeof(path), "proc/%s/task/%s/stat", pid, pid);
        (void) snprintf(text, sizeof(text), "%s (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0\n",
                        pid);
        scratch_put(s, path, text);
        (void) snprintf(path, sizeof(path), "proc/%s/task/%s/cgroup", pid, pid);
        (void) snprintf(text, sizeof(text), "0::%s\n", group);
        scratch_put(s, path, text);
}

static void put_tasks(const Scratch *s) {
        put_task(s, "7", 33, "/system.slice/nginx.service");
        put_task(s, "8", 0, "/system.slice/docker-" ID ".scope");
        scratch_put(s, CONFIG, "{\"Name\":\"/web\"}");
}

/* tracing/owners after one look at a clock that shows 5 s when the host has been up for 3 s; the caller frees it. */
static char *look(const Scratch *s, const char *session, bool with_names) {
        const OwnerClock clock = { .at = { .trace_ns = 5000000000, .boottime_ns = 3000000000 },
                                   .is_ns = true,
                                   .ticks_per_s = 100 };
        _cleanup_(session_dir_freep) SessionDir *dir = NULL;
        char *text;
        size_t n;

        ck_assert_int_eq(session_dir_create(&dir, s->fd, session), 0);
        ck_assert_int_eq(owner_look(dir, s->fd, &clock, with_names), 0);
        ck_assert_int_eq(owner_look(dir, s->fd, &clock, with_names), 0); /* nothing is new */
        ck_assert_int_eq(session_dir_read_tracing(dir, OWNERS_FILE, &text, &n), 0);
        return text;
}

SCRATCH_TEST(a_task_is_its_owner_s_since_it_began) {
        _cleanup_free_ char *text = NULL;

        put_tasks(s);
        text = look(s, "named", true);
        ck_assert_ptr_nonnull(strstr(
                text, "\ntask 5000000000 3000000000 7 7 33 /system.slice/nginx.service\n"));
        ck_assert_ptr_null(strstr(strstr(text, " 7 7 33 ") + 1, " 7 7 33 "));
}

/* /var/lib/docker is root's alone. */
SCRATCH_TEST(names_of_containers_are_told_to_root_alone) {
        _cleanup_free_ char *named = NULL, *unnamed = NULL;

        put_tasks(s);
        named = look(s, "named", true);
        ck_assert_ptr_nonnull(strstr(named, "name " ID " web\n"));
        unnamed = look(s, "unnamed", false);
        ck_assert_ptr_nonnull(strstr(unnamed, "docker-" ID ".scope\n"));
        ck_assert_ptr_null(strstr(unnamed, "web"));
}

SCRATCH_TEST(each_runtime_has_names) {
        static const struct {
                const char *file, *text, *name;
        } runtimes[] = {
                { "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
                  "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"nginx\","
                  "\"io.kubernetes.cri.sandbox-name\":\"shop-1\"}}",
                  "shop-1/nginx" },
                { "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
                  "{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"shop-1\"}}", "shop-1" },
                { "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
                  "{\"annotations\":[]}", NULL },
                { "var/lib/containers/storage/overlay-containers/containers.json",
                  "[7,{\"id\":\"0\",\"names\":[\"db\"]},{\"id\":\"" ID "\",\"names\":[\"web\"]}]",
                  "web" },
                { "var/lib/containers/storage/overlay-containers/containers.json",
                  "[{\"id\":\"" ID "\",\"names\":[]}]", NULL },
                { "var/lib/containers/storage/overlay-containers/containers.json",
                  "{\"id\":\"" ID "\",\"names\":[\"web\"]}", NULL },
                { "var/lib/containers/storage/overlay-containers/volatile-containers.json",
                  "[{\"id\":\"" ID "\",\"names\":[\"once\"]}]", "once" },
        };

        put_task(s, "8", 0, "/system.slice/libpod-" ID ".scope");
        for (size_t i = 0; i < ELEMENTSOF(runtimes); i++) {
                _cleanup_free_ char *text = NULL;
                char session[] = "a", line[128];

                session[0] += (char) i;
                scratch_put(s, runtimes[i].file, runtimes[i].text);
                text = look(s, session, true);
                (void) snprintf(line, sizeof(line), "name " ID " %s\n", runtimes[i].name ?: "");
                if (runtimes[i].name)
                        ck_assert_ptr_nonnull(strstr(text, line));
                else
                        ck_assert_ptr_null(strstr(text, "name "));
                scratch_put(s, runtimes[i].file, "");
        }
}

SCRATCH_TEST(a_name_that_is_none_is_left_out) {
        static const char *const configs[] = { "", "{", "[]", "{\"Name\":7}", "{\"Name\":\"a b\"}",
                                               "{\"Name\":\"a\\nname " ID " b\"}" };

        put_tasks(s);
        for (size_t i = 0; i < ELEMENTSOF(configs); i++) {
                _cleanup_free_ char *text = NULL;
                char session[] = "a";

                session[0] += (char) i;
                scratch_put(s, CONFIG, configs[i]);
                text = look(s, session, true);
                ck_assert_ptr_null(strstr(text, "name "));
        }
}
