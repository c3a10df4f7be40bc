# Stories on real kernels: never part of `make check`.  check-root runs them in guests, which needs
# neither root nor a kernel that can trace; check-root-native on this kernel, as root.
root_tests += \
	%D%/test-bad-input.sh \
	%D%/test-black-box.sh \
	%D%/test-callers.sh \
	%D%/test-capabilities.sh \
	%D%/test-broken-copies.sh \
	%D%/test-copied-stacks.sh \
	%D%/test-disk.sh \
	%D%/test-doctor.sh \
	%D%/test-dry-run.sh \
	%D%/test-damaged-memory.sh \
	%D%/test-events.sh \
	%D%/test-elsewhere.sh \
	%D%/test-every-call.sh \
	%D%/test-exact.sh \
	%D%/test-filters.sh \
	%D%/test-follow.sh \
	%D%/test-hotplug.sh \
	%D%/test-quiesce.sh \
	%D%/test-idle.sh \
	%D%/test-kernel-text.sh \
	%D%/test-kill.sh \
	%D%/test-kill-faults.sh \
	%D%/test-lean.sh \
	%D%/test-lean-live.sh \
	%D%/test-leftovers.sh \
	%D%/test-lines.sh \
	%D%/test-loss.sh \
	%D%/test-main-job.sh \
	%D%/test-modules.sh \
	%D%/test-moment.sh \
	%D%/test-silence.sh \
	%D%/test-oops.sh \
	%D%/test-options.sh \
	%D%/test-package.sh \
	%D%/test-path.sh \
	%D%/test-put-back.sh \
	%D%/test-readme.sh \
	%D%/test-requests.sh \
	%D%/test-rescue-service.sh \
	%D%/test-restart.sh \
	%D%/test-rotation.sh \
	%D%/test-schedule.sh \
	%D%/test-sealing.sh \
	%D%/test-shared.sh \
	%D%/test-selftests.sh \
	%D%/test-service.sh \
	%D%/test-ship.sh \
	%D%/test-suspend.sh \
	%D%/test-tamper.sh \
	%D%/test-texts.sh \
	%D%/test-tracedat.sh \
	%D%/test-trigger.sh \
	%D%/test-values.sh \
	%D%/test-watcher.sh \
	%D%/test-what.sh \
	%D%/test-stacks.sh \
	%D%/test-user-stack.sh \
	%D%/test-whose.sh
EXTRA_DIST += $(root_tests) %D%/dump-tracefs.sh %D%/another-boot %D%/break-module.py %D%/others.sh %D%/run-in-guests tests/vm/fetch.sh tests/vm/test-guests.sh tests/vm/vmrun

# check-root-long: every story on every kernel, also where ordinary runs leave it at one or two.
.PHONY: check-root check-root-long check-root-native
check-root-long: GUEST_STORIES = -a
check-root check-root-long: all
	top_builddir='$(abs_top_builddir)' $(srcdir)/%D%/run-in-guests $(GUEST_STORIES)
check-root-native: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(root_tests)'

root_tests += %D%/test-guards.sh
root_tests += %D%/test-hardening.sh

noinst_PROGRAMS += %D%/watch-tracefs
%C%_watch_tracefs_SOURCES = %D%/watch-tracefs.c

noinst_PROGRAMS += %D%/controller-probe
%C%_controller_probe_SOURCES = %D%/controller-probe.c
%C%_controller_probe_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_controller_probe_LDADD = $(daemon_libs)

noinst_PROGRAMS += %D%/kill-every
%C%_kill_every_SOURCES = %D%/kill-every.c
%C%_kill_every_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_kill_every_LDADD = $(daemon_libs)

noinst_PROGRAMS += %D%/count-markers
%C%_count_markers_SOURCES = %D%/count-markers.c
%C%_count_markers_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_count_markers_LDADD = $(decode_libs)

# An ftraced whose live.json is of the next version.
noinst_PROGRAMS += %D%/ftraced-next
%C%_ftraced_next_SOURCES = daemon/main.c daemon/watch/live.c daemon/session/session-adopt.c
%C%_ftraced_next_CPPFLAGS = $(AM_CPPFLAGS) -DLIVE_VERSION=2
%C%_ftraced_next_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_ftraced_next_LDADD = $(daemon_libs)
