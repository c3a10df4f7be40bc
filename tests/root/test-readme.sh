#!/bin/bash
# Touches: installs ftraced, systemd units, function_graph, users; needs a guest in which systemd is process 1.
# SPDX-License-Identifier: GPL-2.0-or-later
# long: nothing is new in it but the words
# kernels: 6.12
# needs: systemd
#
# A newcomer's hour: README's command lines as they stand, by root, by a member of the group and by a stranger.  What
# each of them is told is what tests/data/readme/ROOT, MEMBER and STRANGER say, which somebody has read; figures,
# times and what a table is of do not count.  If a sentence has changed for the better, the log has the new file.
. "$(dirname "$0")/../functions.sh"
requires systemd-sysusers useradd runuser
require_service
unset FTRACED_DEBUG_DIRECTORY # another story's, which a newcomer does not have
systemd-sysusers "$prefix/lib/sysusers.d/ftraced.conf"
useradd -m alice
useradd -m bob
mapfile -t lines < <(sed -n 's/^    \$ //p' "$top_srcdir/README")
ok 'README has lines to type' test "${#lines[@]}" -gt 20

# What README's lines take for granted: a program, a text, recordings of two nights, a directory.
prepare() { # DIRECTORY
        printf '#!/bin/sh\nexec %q 5 >/dev/null\n' "$udp_pairs" >"$1/client"
        chmod 755 "$1/client"
        cp "$top_srcdir/tests/data/udp_sendmsg-6.12.trace" "$1/pasted.txt"
        mkdir -p /srv/calls
        chmod 777 /srv/calls
}

nights() {
        local n

        for n in 5 6; do
                ftracectl start -q --lean=off -n nightly-$n udp_sendmsg && "$udp_pairs" 20 && ftracectl stop -q nightly-$n
        done >/dev/null 2>&1
}

# What is left of a text when it is told again tomorrow: chance decides how many roots why tries and whether
# a call was slow, the disk what goes next.
words() {
        tr '\r' '\n' | sed -E 's/\x1b\[[0-9;?]*[A-Za-z]//g; s/\x1b\][^\x07]*\x07//g
                s/[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9:]+/WHEN/g; s/[0-9a-f]{16,}/ID/g; s/\b(udp_sendmsg)-[0-9a-f]{4}\b/\1-ID/g
                s/[0-9][0-9,.]* ?(ns|us|ms|s|min|h)\b/TIME/g; s/[0-9][0-9,.]*[KMGT]?B?\b/N/g
                s/^Next: ftracectl show slow-io$/Next: ftracectl hist slow-io/
                s/ +/ /g' | grep -vE '^ *$|^N roots were tried| is removed next, at ' | cut -c1-200
}

# Of what is printed the first line, of tables none, and all that is no result.
hour() { # USER FILE
        local line home status
        local run=(bash -c) skips='^\./'

        home=$(getent passwd "$1" | cut -d: -f6)
        prepare "$home"
        if [[ $1 != root ]]; then
                run=(runuser -u "$1" -- bash -c) skips+='|^sudo (systemctl|usermod)'
                systemctl start ftraced.socket
                nights
        fi
        for line in "${lines[@]}"; do
                [[ ! $line =~ $skips ]] || continue
                line=${line%%  #*}
                line=${line%"${line##*[! ]}"}
                echo "\$ $line"
                (cd "$home" && timeout 200 "${run[@]}" "sudo() { \"\$@\"; }; $line" >"$work/said" 2>"$work/complained" </dev/null)
                status=$?
                [[ $line =~ ^(sudo\ )?ftracectl\ (top|tree|why|diff|hist)\  ]] || head -n 1 "$work/said" | words
                words <"$work/complained"
                [[ $status == 0 ]] || echo "=> $status"
                [[ $line != *' enable '* ]] || nights
                [[ $line != *' start '* ]] || "$udp_pairs" 20 >"$work/pairs"
        done >"$2"
        [[ $1 != root ]] || ftracectl schedule remove nightly >/dev/null
        systemctl stop ftraced.socket ftraced.service
        rm -rf /var/lib/ftraced/sessions/* /srv/calls "${home:?}"/slow-dns.*
}

is_read() { # USER: its hour is as in the golden file
        hour "$1" "$work/$1"
        if ! ok "$1 is told what the golden file says" cmp -s "$work/$1" "$top_srcdir/tests/data/readme/$1"; then
                diff -u "$top_srcdir/tests/data/readme/$1" "$work/$1" | sed 's/^/# /'
        fi
        [[ ! -d /mnt/out ]] || cp "$work/$1" "/mnt/out/readme-$1"
}

is_read root
is_read alice
is_read bob
systemctl disable -q ftraced.socket
is_as_before 'the kernel is as it was'
done_testing
