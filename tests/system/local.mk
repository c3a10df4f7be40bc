# Tests with the real programs and no kernel: part of `make check`.  Those that take longest begin first.
system_tests = %D%/test-fleet.sh %D%/test-disk.sh %D%/test-write-back.sh %D%/test-kept.sh %D%/test-terminal.sh \
	%D%/test-held.sh %D%/test-export.sh %D%/test-quota.sh %D%/test-watchdog.sh %D%/test-one-truth.sh \
	%D%/test-hostile.sh %D%/test-trigger.sh %D%/test-unhooked.sh %D%/test-many.sh %D%/test-tracedat.sh %D%/test-damage.sh \
	%D%/test-ship.sh %D%/test-ssh.sh %D%/test-old-kernel.sh %D%/test-tamper.sh %D%/test-schedule.sh \
	%D%/test-setup.sh %D%/test-memory.sh %D%/test-restart.sh %D%/test-access.sh %D%/test-heat.sh \
	%D%/test-guards.sh %D%/test-explain.sh %D%/test-why.sh %D%/test-ways.sh %D%/test-diff.sh %D%/test-every-call.sh \
	%D%/test-filters.sh %D%/test-full-ring.sh %D%/test-library.sh %D%/test-lines-files.sh %D%/test-live-top.sh \
	%D%/test-manners.sh %D%/test-merging.sh %D%/test-metrics.sh %D%/test-narrow.sh %D%/test-not-put-back.sh %D%/test-origin.sh %D%/test-printed.sh \
	%D%/test-profiles.sh %D%/test-questions.sh %D%/test-recordings.sh %D%/test-remote.sh %D%/test-requests.sh \
	%D%/test-retention.sh %D%/test-rotation.sh %D%/test-sealing.sh %D%/test-sessions.sh %D%/test-silence.sh \
	%D%/test-slow-disk.sh %D%/test-slow-kernel.sh %D%/test-store.sh %D%/test-texts.sh %D%/test-tracecmd.sh \
	%D%/test-waiting.sh %D%/test-wire.sh
dist_check_SCRIPTS += $(system_tests)
TESTS += $(system_tests)
EXTRA_DIST += %D%/fake-tracefs.sh %D%/member.sh %D%/damage.py %D%/heat.py %D%/hostile.py %D%/terminal.py %D%/compare-report.py tests/count-calls.py tests/varlink-client.py tests/varlink-conform.py \
	tests/hold-thread.py tests/json-tables.py tests/one-truth.py tests/questions.py tests/tables.varlink

noinst_PROGRAMS += %D%/service-manager %D%/old-kernel
%C%_service_manager_SOURCES = %D%/service-manager.c
%C%_old_kernel_SOURCES = %D%/old-kernel.c

# Preloaded into daemons: workers that do not step back, a disk that fails, a kernel that is slow.
preloaded = %D%/eager.so %D%/fault.so %D%/reads.so %D%/slow.so %D%/world.so
check_DATA += $(preloaded)
CLEANFILES += $(preloaded)
EXTRA_DIST += %D%/eager.c %D%/fault.c %D%/reads.c %D%/slow.c %D%/world.c
preload = $(AM_V_CC)$(MKDIR_P) %D% && $(CC) $(FTRACED_CFLAGS) -fvisibility=default -D_GNU_SOURCE $(CFLAGS) -fPIC -shared
%D%/eager.so: %D%/eager.c
	$(preload) -o $@ $< -ldl
%D%/fault.so: %D%/fault.c
	$(preload) -o $@ $< -ldl
%D%/reads.so: %D%/reads.c
	$(preload) -o $@ $< -ldl
%D%/slow.so: %D%/slow.c
	$(preload) -o $@ $< -ldl
%D%/world.so: %D%/world.c
	$(preload) -o $@ $< -ldl
