# Rings: unit (no root, no daemon) -> system (real daemon, fake tracefs) -> root (a real kernel, in a VM).
TEST_EXTENSIONS  = .sh
LOG_DRIVER       = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
SH_LOG_DRIVER    = $(LOG_DRIVER)
# A test that hangs is a failure, not the end of the run; beside ten busy processes one takes ten times as long.
SH_LOG_COMPILER  = timeout -k 5 1200 bash
AM_TESTS_ENVIRONMENT = \
	CK_TAP_LOG_FILE_NAME=-; export CK_TAP_LOG_FILE_NAME; \
	CK_VERBOSITY=silent; export CK_VERBOSITY; \
	top_builddir=$(abs_top_builddir); export top_builddir; \
	top_srcdir=$(abs_top_srcdir); export top_srcdir; \
	CC='$(CC)'; export CC;

include %D%/unit/local.mk

# The house rules that a script can check.
house_tests = %D%/check-layers.sh %D%/check-circles.sh %D%/check-size.sh %D%/check-headers.sh %D%/check-docs.sh %D%/check-lists.sh \
	%D%/check-rooms.sh
EXTRA_DIST += %D%/check-tables.py %D%/narrow-dat.py %D%/long-names.py %D%/on-terminal.py %D%/read-export.py %D%/consumers/browser.py %D%/consumers/test-viewers.sh %D%/consumers/test-parquet.sh %D%/consumers/read-parquet.mjs %D%/consumers/test-fleet.sh \
	%D%/consumers/ask-duckdb.mjs %D%/consumers/ask-chdb.mjs %D%/consumers/make-calls.py %D%/consumers/odd-names.py
EXTRA_DIST += %D%/README %D%/layers.txt %D%/rooms %D%/rooms.txt %D%/functions.sh %D%/setup.sh %D%/demo %D%/run-all .ci/run
dist_check_SCRIPTS += $(house_tests)
# Those that say "# long: WHY" in their first lines are told by `make check`, and not by run-all's short form.
short_stories = $(filter-out $(shell cd $(top_srcdir) && grep -l '^\# long: ' $(dist_check_SCRIPTS)),$(dist_check_SCRIPTS))
TESTS += $(house_tests)

include %D%/workload/local.mk
include %D%/fuzz/local.mk
include %D%/bench/local.mk
include %D%/system/local.mk
include %D%/data/local.mk
include %D%/root/local.mk
include %D%/packaging/local.mk

# Part of the long suite, since it takes a desktop's packages: what is fetched, in KernelShark.
EXTRA_DIST += %D%/kernelshark/run %D%/kernelshark/count-rows.c
.PHONY: check-kernelshark
check-kernelshark: all
	top_builddir='$(abs_top_builddir)' $(srcdir)/%D%/kernelshark/run '$(abs_top_builddir)/kernelshark'

# make check-ROOM: the quick tests of one room, without building the others; make check-NAME: one unit test.
# There is a test "foreign", but check-foreign is of tests/packaging.
rooms = bash $(srcdir)/%D%/rooms
room_checks = $(if $(filter check-%,$(MAKECMDGOALS)),$(filter-out check-foreign check-help,$(addprefix check-,$(shell $(rooms) --names))))
.PHONY: check-help $(room_checks)
check-help:
	@$(rooms)
$(room_checks): all
	@UNIT_SUITES="$$($(rooms) --suites $(@:check-%=%))" $(MAKE) $(AM_MAKEFLAGS) check-TESTS check_PROGRAMS= \
		TESTS='$(filter $(TESTS),$(shell $(rooms) --tests $(@:check-%=%)))'
	@$(rooms) --rest $(@:check-%=%)
