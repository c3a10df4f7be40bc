# Tests with the real programs and no kernel: part of `make check`.
system_tests = %D%/test-disk.sh %D%/test-full-ring.sh %D%/test-guards.sh %D%/test-profiles.sh %D%/test-recordings.sh %D%/test-restart.sh %D%/test-retention.sh \
	%D%/test-rotation.sh %D%/test-sealing.sh %D%/test-sessions.sh %D%/test-tamper.sh %D%/test-texts.sh %D%/test-waiting.sh \
	%D%/test-wire.sh
system_tests += %D%/test-library.sh %D%/test-manners.sh %D%/test-metrics.sh %D%/test-remote.sh %D%/test-schedule.sh %D%/test-trigger.sh
system_tests += %D%/test-filters.sh
system_tests += %D%/test-export.sh %D%/test-diff.sh
system_tests += %D%/test-damage.sh %D%/test-tracedat.sh
EXTRA_DIST += %D%/damage.py
system_tests += %D%/test-silence.sh
dist_check_SCRIPTS += $(system_tests)
TESTS += $(system_tests)
EXTRA_DIST += %D%/fake-tracefs.sh tests/varlink-client.py tests/varlink-conform.py

noinst_PROGRAMS += %D%/service-manager
%C%_service_manager_SOURCES = %D%/service-manager.c

# In a user and mount namespace of its own, where that is permitted.
system_tests += %D%/test-store.sh

# With a program of tests/root.
system_tests += %D%/test-every-call.sh

# Preloaded into a daemon whose disk is to fail.
check_DATA += %D%/fault.so
CLEANFILES += %D%/fault.so
EXTRA_DIST += %D%/fault.c
%D%/fault.so: %D%/fault.c
	$(AM_V_CC)$(MKDIR_P) %D% && $(CC) $(FTRACED_CFLAGS) -fvisibility=default -D_GNU_SOURCE $(CFLAGS) -fPIC -shared -o $@ $< -ldl

system_tests += %D%/test-hostile.sh
EXTRA_DIST += %D%/hostile.py

system_tests += %D%/test-access.sh
