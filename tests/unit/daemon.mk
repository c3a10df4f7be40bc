# unit tests of daemon
unit_tests += %D%/test-memory %D%/test-guard
%C%_test_memory_CFLAGS  = $(daemon_test_cflags)
%C%_test_memory_LDADD   = $(daemon_test_libs)
%C%_test_guard_CFLAGS      = $(daemon_test_cflags)
%C%_test_guard_LDADD       = $(daemon_test_libs)
unit_tests += %D%/test-put-back
%C%_test_put_back_CFLAGS   = $(daemon_test_cflags)
%C%_test_put_back_LDADD    = $(daemon_test_libs)

unit_tests += %D%/test-ledger
%C%_test_ledger_CFLAGS     = $(daemon_test_cflags)
%C%_test_ledger_LDADD      = $(daemon_test_libs)
unit_tests += %D%/test-address %D%/test-fdstore %D%/test-live \
	%D%/test-kernel-symbols %D%/test-inventory %D%/test-backoff %D%/test-reader \
	%D%/test-reader-resume %D%/test-disk-usage %D%/test-symbol-watch %D%/test-syncer %D%/test-transition
daemon_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
daemon_test_libs   = $(daemon_libs) $(CHECK_LIBS)
%C%_test_address_CFLAGS    = $(daemon_test_cflags)
%C%_test_address_LDADD     = $(daemon_test_libs)
%C%_test_backoff_CFLAGS       = $(daemon_test_cflags)
%C%_test_backoff_LDADD        = $(daemon_test_libs)
%C%_test_inventory_CFLAGS  = $(daemon_test_cflags)
%C%_test_inventory_LDADD   = $(daemon_test_libs)
%C%_test_reader_CFLAGS     = $(daemon_test_cflags)
%C%_test_reader_LDADD      = $(daemon_test_libs)
%C%_test_fdstore_CFLAGS    = $(daemon_test_cflags)
%C%_test_fdstore_LDADD     = $(daemon_test_libs)
%C%_test_live_CFLAGS       = $(daemon_test_cflags)
%C%_test_live_LDADD        = $(daemon_test_libs)
%C%_test_reader_resume_CFLAGS = $(daemon_test_cflags)
%C%_test_reader_resume_LDADD  = $(daemon_test_libs)
%C%_test_syncer_CFLAGS = $(daemon_test_cflags)
%C%_test_syncer_LDADD  = $(daemon_test_libs)
%C%_test_symbol_watch_CFLAGS = $(daemon_test_cflags)
%C%_test_symbol_watch_LDADD  = $(daemon_test_libs)
%C%_test_kernel_symbols_CFLAGS = $(daemon_test_cflags)
%C%_test_kernel_symbols_LDADD  = $(daemon_test_libs)
%C%_test_disk_usage_CFLAGS      = $(daemon_test_cflags)
%C%_test_disk_usage_LDADD       = $(daemon_test_libs)
unit_tests += %D%/test-tamper
%C%_test_tamper_CFLAGS     = $(daemon_test_cflags)
%C%_test_tamper_LDADD      = $(daemon_test_libs)
%C%_test_transition_CFLAGS = $(daemon_test_cflags)
%C%_test_transition_LDADD  = $(daemon_test_libs)

# The controller's kernel is a directory whose system calls are wrapped.
unit_tests += %D%/test-functions %D%/test-control %D%/test-override
%C%_test_override_SOURCES = %D%/test-override.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_override_CFLAGS  = $(daemon_test_cflags)
%C%_test_override_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_override_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-controller-teach
%C%_test_controller_teach_SOURCES = %D%/test-controller-teach.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_controller_teach_CFLAGS  = $(daemon_test_cflags)
%C%_test_controller_teach_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_controller_teach_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-admission
%C%_test_admission_SOURCES = %D%/test-admission.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_admission_CFLAGS  = $(daemon_test_cflags)
%C%_test_admission_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_admission_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-sessions
%C%_test_sessions_SOURCES = %D%/test-sessions.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_sessions_CFLAGS  = $(daemon_test_cflags)
%C%_test_sessions_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_sessions_LDADD   = $(daemon_test_libs)
# What is below the queue is the test's own.
unit_tests += %D%/test-start-queue
%C%_test_start_queue_CFLAGS  = $(daemon_test_cflags)
%C%_test_start_queue_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-event-set
%C%_test_event_set_SOURCES = %D%/test-event-set.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_event_set_CFLAGS  = $(daemon_test_cflags)
%C%_test_event_set_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_event_set_LDADD   = $(daemon_test_libs)
%C%_test_controller_SOURCES = %D%/test-controller.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_controller_CFLAGS  = $(daemon_test_cflags)
%C%_test_controller_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=openat,--wrap=__openat_2,--wrap=write \
	-Wl,--wrap=close,--wrap=mkdirat,--wrap=unlinkat,--wrap=renameat
%C%_test_controller_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-removal
%C%_test_removal_CFLAGS  = $(daemon_test_cflags)
%C%_test_removal_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=unlinkat
%C%_test_removal_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-adoption
%C%_test_adoption_SOURCES = %D%/test-adoption.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_adoption_CFLAGS  = $(daemon_test_cflags)
%C%_test_adoption_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_adoption_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-session-hooks
%C%_test_session_hooks_SOURCES = %D%/test-session-hooks.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_session_hooks_CFLAGS  = $(daemon_test_cflags)
%C%_test_session_hooks_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_session_hooks_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-waiting-hooks
%C%_test_waiting_hooks_SOURCES = %D%/test-waiting-hooks.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_waiting_hooks_CFLAGS  = $(daemon_test_cflags)
%C%_test_waiting_hooks_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_waiting_hooks_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-spawn
%C%_test_spawn_CFLAGS = $(daemon_test_cflags)
%C%_test_spawn_LDADD  = $(daemon_test_libs)
unit_tests += %D%/test-leftovers
%C%_test_leftovers_SOURCES = %D%/test-leftovers.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_leftovers_CFLAGS  = $(daemon_test_cflags)
%C%_test_leftovers_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_leftovers_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-quiesce
%C%_test_quiesce_SOURCES = %D%/test-quiesce.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_quiesce_CFLAGS  = $(daemon_test_cflags)
%C%_test_quiesce_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_quiesce_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-dry-run
%C%_test_dry_run_SOURCES = %D%/test-dry-run.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_dry_run_CFLAGS  = $(daemon_test_cflags)
%C%_test_dry_run_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_dry_run_LDADD   = $(daemon_test_libs)
%C%_test_functions_CFLAGS   = $(daemon_test_cflags)
%C%_test_functions_LDADD    = $(daemon_test_libs)
%C%_test_control_CFLAGS        = $(daemon_test_cflags)
%C%_test_control_LDADD         = $(daemon_test_libs)

# The worker is the built ftraced, or a shell that misbehaves.
unit_tests += %D%/test-sandbox %D%/test-sealer
%C%_test_sandbox_CFLAGS = $(daemon_test_cflags)
%C%_test_sandbox_LDADD  = $(daemon_test_libs)
%C%_test_sealer_SOURCES  = %D%/test-sealer.c %D%/page-builder.c %D%/page-builder.h
%C%_test_sealer_CFLAGS   = $(daemon_test_cflags)
%C%_test_sealer_LDADD    = $(daemon_test_libs)

unit_tests += %D%/test-filters
%C%_test_filters_SOURCES = %D%/test-filters.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_filters_CFLAGS  = $(daemon_test_cflags)
%C%_test_filters_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_filters_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-lean %D%/test-hook-cost %D%/test-call-rates %D%/test-ordinary \
	%D%/test-first-guess
%C%_test_call_rates_CFLAGS = $(daemon_test_cflags)
%C%_test_call_rates_LDADD  = $(daemon_test_libs)
%C%_test_ordinary_CFLAGS   = $(daemon_test_cflags)
%C%_test_ordinary_LDADD    = $(daemon_test_libs)
%C%_test_first_guess_CFLAGS = $(daemon_test_cflags)
%C%_test_first_guess_LDADD  = $(daemon_test_libs)
%C%_test_lean_CFLAGS = $(daemon_test_cflags)
%C%_test_lean_LDADD  = $(daemon_test_libs)
%C%_test_hook_cost_CFLAGS = $(daemon_test_cflags)
%C%_test_hook_cost_LDADD  = $(daemon_test_libs)
unit_tests += %D%/test-allowance %D%/test-background %D%/test-idle %D%/test-peer %D%/test-quota %D%/test-settings
%C%_test_allowance_CFLAGS = $(daemon_test_cflags)
%C%_test_allowance_LDADD  = $(daemon_test_libs)
%C%_test_background_CFLAGS     = $(daemon_test_cflags)
%C%_test_background_LDADD      = $(daemon_test_libs)
%C%_test_peer_CFLAGS = $(daemon_test_cflags)
%C%_test_peer_LDADD  = $(daemon_test_libs)
%C%_test_quota_CFLAGS = $(daemon_test_cflags)
%C%_test_quota_LDADD  = $(daemon_test_libs)
%C%_test_settings_CFLAGS = $(daemon_test_cflags)
%C%_test_settings_LDADD  = $(daemon_test_libs)

unit_tests += %D%/test-untraced
%C%_test_untraced_SOURCES = %D%/test-untraced.c %D%/fake-kernel.c %D%/fake-kernel.h
%C%_test_untraced_CFLAGS  = $(daemon_test_cflags)
%C%_test_untraced_LDFLAGS = $(%C%_test_controller_LDFLAGS)
%C%_test_untraced_LDADD   = $(daemon_test_libs)
%C%_test_idle_CFLAGS = $(daemon_test_cflags)
%C%_test_idle_LDADD  = $(daemon_test_libs)
unit_tests += %D%/test-arbiter
%C%_test_arbiter_CFLAGS = $(daemon_test_cflags)
%C%_test_arbiter_LDADD  = $(daemon_test_libs)
unit_tests += %D%/test-rotation
%C%_test_rotation_CFLAGS  = $(daemon_test_cflags)
%C%_test_rotation_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=recorder_sequence,--wrap=recorder_first_open \
	-Wl,--wrap=recorder_oldest_open,--wrap=recorder_cut,--wrap=recorder_kick
%C%_test_rotation_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-journal
%C%_test_journal_CFLAGS  = $(daemon_test_cflags)
%C%_test_journal_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sd_journal_sendv
%C%_test_journal_LDADD   = $(daemon_test_libs)
unit_tests += %D%/test-roster
%C%_test_roster_CFLAGS    = $(daemon_test_cflags)
%C%_test_roster_LDADD     = $(daemon_test_libs)
