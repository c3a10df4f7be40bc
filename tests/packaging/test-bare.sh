#!/bin/bash
# Touches: the network; makes Debian systems below the build directory and removes them.  Needs root.
# SPDX-License-Identifier: GPL-2.0-or-later
#
# README's two commands on a Debian 12 and a 13 that debootstrap --variant=minbase has just made: what they install is
# all that they need.  run-all tells of its long form what shows that: it configures, makes, tells the unit tests and
# makes packages.  One system gets the sources as git has them, the other the tarball of `make dist`.
#
#       FTRACED_BARE    suites of Debian     [bookworm trixie]
#       FTRACED_STEPS   of run-all           [autoreconf configure make check packages]
. "$(dirname "$0")/../functions.sh"
. "$(dirname "$0")/system.sh"
read -ra suites <<<"${FTRACED_BARE:-bookworm trixie}"
steps=${FTRACED_STEPS:-autoreconf configure make check packages}

mkdir -p "$roots"
for suite in "${suites[@]}"; do
        remove_system "$suite"
        cleanup_fn remove_system "$suite"
        ok "$suite: a system is made" install_system "$suite"
        is "$suite: there is nothing to build with" "$(inside "$suite" bash -c 'command -v cc gcc make autoconf pkg-config')" ''

        exits "$suite: the demo" 0 inside "$suite" tests/demo
        # The demo shows the beginning alone, which may be an interrupt: what it interrupts is noted behind it.
        says "$suite: draws a recording" ' udp_sendmsg\(\) \{$' "$roots/$suite/ftraced/build/demo/out/drawing"
        cp "$out" "$roots/$suite-demo.log"

        exits "$suite: the tests pass" 0 inside "$suite" env FTRACED_LONG=1 FTRACED_SKIP_STORIES=1 \
                FTRACED_STEPS="$steps" tests/run-all --no-vm
        cp "$out" "$roots/$suite-run-all.log"
        for step in $steps; do
                says "$suite: of which there is $step" "^$step: [1-9][0-9]* passed, 0 failed" "$out"
        done
        if [[ " $steps " == *' packages '* ]]; then
                packages=("$roots/$suite"/ftraced/build/run-all/plain/deb/*.deb)
                is "$suite: there are four" ${#packages[@]} 4
        fi
        remove_system "$suite"
done
done_testing
