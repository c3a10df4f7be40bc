# Tests with the real programs and no kernel: part of `make check`.
system_tests = %D%/test-recordings.sh %D%/test-restart.sh %D%/test-rotation.sh \
	 %D%/test-sessions.sh %D%/test-wire.sh
dist_check_SCRIPTS += $(system_tests)
TESTS += $(system_tests)
EXTRA_DIST += %D%/fake-tracefs.sh tests/varlink-client.py

noinst_PROGRAMS += %D%/service-manager
%C%_service_manager_SOURCES = %D%/service-manager.c
