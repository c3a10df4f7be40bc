/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "owner/cgroup-words.h"
#include "unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PODS "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a2b_3c.slice/"

TEST(a_path_tells_unit_container_and_pod) {
        static const struct {
                const char *path, *unit, *container, *pod;
        } all[] = {
                { "", "", "", "" },
                { "/", "", "", "" },
                { "/init.scope", "init.scope", "", "" },
                { "/system.slice/nginx.service", "nginx.service", "", "" },
                { "/system.slice/nginx.service/a.service", "nginx.service", "", "" },
                { "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service", "",
                  "" },
                { "/system.slice/dev-disk-by\\x2dlabel.swap", "dev-disk-by\\x2dlabel.swap", "",
                  "" },
                { "/system.slice/_cpu.service", "cpu.service", "", "" },
                { "/user.slice/user-1000.slice/user@1000.service/app.slice/x.scope",
                  "user@1000.service", "", "" },
                { "/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", "" },
                { "/user.slice/user-1000.slice", "user-1000.slice", "", "" },
                { "/other/a.service", "", "", "" },
                { "/.service", "", "", "" },
                { "/system.slice/docker-" ID ".scope", "docker-" ID ".scope", ID, "" },
                { "/docker/" ID, "", ID, "" },
                { "/docker/" ID "/system.slice/a.service", "", ID, "" },
                { "/elsewhere/" ID, "", "", "" },
                { "/system.slice/docker-0123.scope", "docker-0123.scope", "", "" },
                { "/machine.slice/libpod-" ID ".scope/container", "libpod-" ID ".scope", ID, "" },
                { "/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope", "",
                  "" },
                { PODS "cri-containerd-" ID ".scope", "cri-containerd-" ID ".scope", ID,
                  "1a2b-3c" },
                { PODS "crio-" ID ".scope", "crio-" ID ".scope", ID, "1a2b-3c" },
                { "/kubepods.slice/kubepods-podX.slice", "kubepods-podX.slice", "", "X" },
                { "/kubepods/besteffort/pod1a2b-3c/" ID, "", ID, "1a2b-3c" },
                { "/kubepods/pod1a2b-3c/" ID, "", ID, "1a2b-3c" },
                { "/lxc.payload.web/system.slice", "", "web", "" },
                { "/lxc.monitor.web", "", "", "" },
                { "/machine.slice/machine-deb\\x2d12.scope/payload", "machine-deb\\x2d12.scope",
                  "deb\\x2d12", "" },
                { "/machine.slice/systemd-nspawn@deb.service/payload", "systemd-nspawn@deb.service",
                  "deb", "" },
                { "/docker/" ID "/kubepods/podY/fedcba98" ID, "", ID, "Y" },
        };

        for (size_t i = 0; i < ELEMENTSOF(all); i++) {
                CgroupWords w;

                cgroup_words(all[i].path, &w);
                ck_assert_str_eq(w.unit, all[i].unit);
                ck_assert_str_eq(w.container, all[i].container);
                ck_assert_str_eq(w.pod, all[i].pod);
        }
}

TEST(long_parts_are_cut) {
        char path[1024] = "/";
        CgroupWords w;

        memset(path + 1, 'a', 1000);
        strcpy(path + 1001, ".service");
        cgroup_words(path, &w);
        ck_assert_str_eq(w.unit, "");
}
