# Unit tests: a program for each room, and in it a suite for each module, test-MODULE.c, whose tests add
# themselves to the program (unit.h).  TAP on stdout.  A program's words, or UNIT_SUITES, choose among its suites.
# Those that take longest begin first.
unit_programs = %D%/daemon-tracer %D%/daemon-watch %D%/daemon-server
unit_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
unit_libs   = %D%/libunit.a
if HAVE_CHECK
check_LIBRARIES += %D%/libunit.a
check_PROGRAMS += $(unit_programs)
TESTS += $(unit_programs)
endif

# What they share is compiled once.
%C%_libunit_a_CFLAGS = $(unit_cflags)
%C%_libunit_a_SOURCES = %D%/fake-kernel.c %D%/fake-kernel.h %D%/kernel-format.h %D%/page-builder.c %D%/page-builder.h %D%/player.c %D%/player.h \
	%D%/scratch.h %D%/sealing.h %D%/segment-map.h %D%/server-fixture.c %D%/server-fixture.h %D%/span-check.h \
	%D%/fed.h %D%/step-builder.h %D%/task-simulator.c %D%/task-simulator.h %D%/text-file.h %D%/types-builder.h %D%/unit.h %D%/unit-main.c \
	%D%/value-stream.h

# The controller's kernel is a directory whose system calls are wrapped.
fake_kernel_ldflags = $(AM_LDFLAGS) -Wl,--wrap=openat,--wrap=__openat_2,--wrap=write \
	-Wl,--wrap=close,--wrap=mkdirat,--wrap=unlinkat,--wrap=renameat

# lib/
unit_programs += %D%/lib-base
%C%_lib_base_SOURCES = %D%/test-array.c %D%/test-buf.c %D%/test-hash.c %D%/test-ini.c %D%/test-io.c \
	%D%/test-name.c %D%/test-origin.c %D%/test-unit.c
%C%_lib_base_CFLAGS = $(unit_cflags)
%C%_lib_base_LDADD = $(unit_libs) $(base_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-wire
%C%_lib_wire_SOURCES = %D%/test-frame.c %D%/test-interface.c %D%/test-refusal.c
%C%_lib_wire_CFLAGS = $(unit_cflags)
%C%_lib_wire_LDADD = $(unit_libs) $(wire_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-meta
%C%_lib_meta_SOURCES = %D%/test-brief.c %D%/test-build-id.c %D%/test-clock.c %D%/test-config.c %D%/test-event-choice.c \
	%D%/test-gap.c %D%/test-meta.c %D%/test-profile.c %D%/test-spec.c %D%/test-trigger.c
%C%_lib_meta_CFLAGS = $(unit_cflags)
%C%_lib_meta_LDADD = $(unit_libs) $(store_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-store
%C%_lib_store_SOURCES = %D%/test-entry.c %D%/test-page.c %D%/test-segment.c %D%/test-session-dir.c \
	%D%/test-store.c %D%/test-symbol-file.c
%C%_lib_store_CFLAGS = $(unit_cflags)
%C%_lib_store_LDADD = $(unit_libs) $(pages_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-retention
%C%_lib_retention_SOURCES = %D%/test-outlook.c %D%/test-removed.c %D%/test-retain.c \
	%D%/test-vacuum.c
%C%_lib_retention_CFLAGS = $(unit_cflags)
%C%_lib_retention_LDADD = $(unit_libs) $(retention_libs) $(codec_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-codec
%C%_lib_codec_SOURCES = %D%/test-block.c %D%/test-layout.c %D%/test-pieces.c
%C%_lib_codec_CFLAGS = $(unit_cflags)
%C%_lib_codec_LDADD = $(unit_libs) $(pages_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-pages
%C%_lib_pages_SOURCES = %D%/test-dat-file.c %D%/test-dat-losses.c %D%/test-dat-origin.c %D%/test-dat-times.c \
	%D%/test-sealed.c
%C%_lib_pages_CFLAGS = $(unit_cflags)
%C%_lib_pages_LDADD = $(unit_libs) $(drawing_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-decode
%C%_lib_decode_SOURCES = %D%/test-cursor.c %D%/test-foreign.c %D%/test-format-text.c %D%/test-formats.c %D%/test-object.c \
	%D%/test-occurrence.c %D%/test-print-format.c %D%/test-printk.c %D%/test-records.c \
	%D%/test-stream.c %D%/test-symbol-timeline.c %D%/test-symbols.c %D%/test-tasks.c
%C%_lib_decode_CFLAGS = $(unit_cflags)
%C%_lib_decode_LDADD = $(unit_libs) $(decode_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-types
%C%_lib_types_SOURCES = %D%/test-args-choice.c %D%/test-members.c
%C%_lib_types_CFLAGS = $(unit_cflags)
%C%_lib_types_LDADD = $(unit_libs) $(types_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-learn
%C%_lib_learn_SOURCES = %D%/test-function-counts.c
%C%_lib_learn_CFLAGS = $(unit_cflags)
%C%_lib_learn_LDADD = $(unit_libs) $(learn_libs) $(CHECK_LIBS)

%C%_lib_programs_SOURCES = %D%/test-elf-notes.c %D%/test-perf-map.c %D%/test-unwind.c
%C%_lib_programs_CFLAGS = $(unit_cflags)
%C%_lib_programs_LDADD = $(unit_libs) $(programs_libs) $(spaces_libs) $(meta_libs) $(ELFUTILS_LIBS) $(LIBIBERTY_LIBS) $(CHECK_LIBS)
unit_programs += %D%/lib-programs

unit_programs += %D%/lib-owner
%C%_lib_owner_SOURCES = %D%/test-cgroup-words.c %D%/test-owners.c
%C%_lib_owner_CFLAGS = $(unit_cflags)
%C%_lib_owner_LDADD = $(unit_libs) $(owner_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-spaces
%C%_lib_spaces_SOURCES = %D%/test-spaces.c %D%/test-stack-copies.c
%C%_lib_spaces_CFLAGS = $(unit_cflags)
%C%_lib_spaces_LDADD = $(unit_libs) $(spaces_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-calls
%C%_lib_calls_SOURCES = %D%/test-census.c %D%/test-filter.c %D%/test-function.c %D%/test-name-set.c %D%/test-prototypes.c \
	%D%/test-stacks.c %D%/test-step.c %D%/test-steps.c %D%/test-tail-sampler.c %D%/test-trace-context.c \
	%D%/test-unhooked.c %D%/test-values.c %D%/test-values-random.c
%C%_lib_calls_CFLAGS = $(unit_cflags)
%C%_lib_calls_LDADD = $(unit_libs) $(calls_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-import
%C%_lib_import_SOURCES = %D%/test-envelope.c %D%/test-event-line.c %D%/test-foreign-text.c %D%/test-graph-line.c \
	%D%/test-indent-line.c %D%/test-labels.c %D%/test-lines.c %D%/test-packed.c %D%/test-source-form.c \
	%D%/test-text-pasted.c %D%/test-text-redraw.c %D%/test-text-same.c %D%/test-text-several.c %D%/test-text-trace.c
%C%_lib_import_CFLAGS = $(unit_cflags)
%C%_lib_import_LDADD = $(unit_libs) $(import_libs) $(drawing_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-lines
%C%_lib_lines_SOURCES = %D%/test-code.c %D%/test-debuginfod.c %D%/test-layer.c %D%/test-lines-file.c %D%/test-sites.c %D%/test-ways.c %D%/lines-fixture.h
%C%_lib_lines_CFLAGS = $(unit_cflags) $(ZSTD_CFLAGS)
%C%_lib_lines_LDADD = $(unit_libs) $(lines_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-analyze
%C%_lib_analyze_SOURCES = %D%/test-breakdown.c %D%/test-call-tree.c %D%/test-expected.c %D%/test-heat-map.c \
	%D%/test-overhead.c %D%/test-pairing.c %D%/test-quantiles.c %D%/test-role.c %D%/test-spans.c
%C%_lib_analyze_CFLAGS = $(unit_cflags)
%C%_lib_analyze_LDADD = $(unit_libs) $(import_libs) $(analyze_libs) -lm $(CHECK_LIBS)

unit_programs += %D%/lib-encode
%C%_lib_encode_SOURCES = %D%/test-escape.c %D%/test-excerpts.c %D%/test-parquet-encode.c %D%/test-parquet-texts.c \
	%D%/test-spill.c
%C%_lib_encode_CFLAGS = $(unit_cflags)
%C%_lib_encode_LDADD = $(unit_libs) $(encode_libs) $(CHECK_LIBS)

unit_programs += %D%/lib-causes
%C%_lib_causes_SOURCES = %D%/test-anatomy.c %D%/test-chance.c %D%/test-critical-path.c %D%/test-outliers.c \
	%D%/test-truth.c %D%/test-waits.c %D%/test-why.c
%C%_lib_causes_CFLAGS = $(unit_cflags)
%C%_lib_causes_LDADD = $(unit_libs) $(causes_libs) -lm $(CHECK_LIBS)

unit_programs += %D%/lib-export
%C%_lib_export_SOURCES = %D%/test-exporter.c
%C%_lib_export_CFLAGS = $(unit_cflags)
%C%_lib_export_LDADD = $(unit_libs) $(export_libs) -lm $(CHECK_LIBS)

unit_programs += %D%/lib-render
%C%_lib_render_SOURCES = %D%/test-kernel.c %D%/test-renderer.c
%C%_lib_render_CFLAGS = $(unit_cflags)
%C%_lib_render_LDADD = $(unit_libs) $(render_libs) $(CHECK_LIBS)

# daemon/
unit_programs += %D%/daemon-process
%C%_daemon_process_SOURCES = %D%/test-background.c %D%/test-fdstore.c %D%/test-journal.c \
	%D%/test-sandbox.c %D%/test-spawn.c
%C%_daemon_process_CFLAGS = $(unit_cflags)
%C%_daemon_process_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)
%C%_daemon_process_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=sd_journal_sendv

%C%_daemon_server_SOURCES = %D%/test-listener.c %D%/test-peer.c %D%/test-quota.c %D%/test-server.c \
	%D%/test-server-hostile.c cli/contact/client.c
%C%_daemon_server_CFLAGS = $(unit_cflags)
%C%_daemon_server_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)

unit_programs += %D%/daemon-record
%C%_daemon_record_SOURCES = %D%/test-reader.c %D%/test-syncer.c
%C%_daemon_record_CFLAGS = $(unit_cflags)
%C%_daemon_record_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)

unit_programs += %D%/daemon-upkeep
%C%_daemon_upkeep_SOURCES = %D%/test-disk-usage.c %D%/test-removal.c %D%/test-sealer.c
%C%_daemon_upkeep_CFLAGS = $(unit_cflags)
%C%_daemon_upkeep_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)
%C%_daemon_upkeep_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=unlinkat

unit_programs += %D%/daemon-tracefs
%C%_daemon_tracefs_SOURCES = %D%/test-control.c %D%/test-ledger.c
%C%_daemon_tracefs_CFLAGS = $(unit_cflags)
%C%_daemon_tracefs_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)

unit_programs += %D%/daemon-symbols
%C%_daemon_symbols_SOURCES = %D%/test-kernel-symbols.c
%C%_daemon_symbols_CFLAGS = $(unit_cflags)
%C%_daemon_symbols_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)

unit_programs += %D%/daemon-admission
%C%_daemon_admission_SOURCES = %D%/test-admission.c %D%/test-arbiter.c %D%/test-caller.c %D%/test-functions.c \
	%D%/test-memory.c %D%/test-untraced.c
%C%_daemon_admission_CFLAGS = $(unit_cflags)
%C%_daemon_admission_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)
%C%_daemon_admission_LDFLAGS = $(fake_kernel_ldflags)

unit_programs += %D%/daemon-instances
%C%_daemon_instances_SOURCES = %D%/test-black-box.c %D%/test-event-set.c %D%/test-quiesce.c
%C%_daemon_instances_CFLAGS = $(unit_cflags)
%C%_daemon_instances_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)
%C%_daemon_instances_LDFLAGS = $(fake_kernel_ldflags)

unit_programs += %D%/daemon-lean
%C%_daemon_lean_SOURCES = %D%/test-host-load.c %D%/test-lean.c %D%/test-thinning.c
%C%_daemon_lean_CFLAGS = $(unit_cflags)
%C%_daemon_lean_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)

%C%_daemon_tracer_SOURCES = %D%/test-controller.c %D%/test-dry-run.c %D%/test-filters.c \
	%D%/test-leftovers.c %D%/test-override.c %D%/test-waiting-hooks.c
%C%_daemon_tracer_CFLAGS = $(unit_cflags)
%C%_daemon_tracer_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)
%C%_daemon_tracer_LDFLAGS = $(fake_kernel_ldflags)

%C%_daemon_watch_SOURCES = %D%/test-guard.c %D%/test-live.c %D%/test-maps-look.c %D%/test-owner-look.c %D%/test-tamper.c
%C%_daemon_watch_CFLAGS = $(unit_cflags)
%C%_daemon_watch_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)

unit_programs += %D%/daemon-session
%C%_daemon_session_SOURCES = %D%/test-rescue.c %D%/test-session.c
%C%_daemon_session_CFLAGS = $(unit_cflags)
%C%_daemon_session_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)
%C%_daemon_session_LDFLAGS = $(fake_kernel_ldflags)

unit_programs += %D%/daemon-api
%C%_daemon_api_SOURCES = %D%/test-allowance.c %D%/test-sessions.c
%C%_daemon_api_CFLAGS = $(unit_cflags)
%C%_daemon_api_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)
%C%_daemon_api_LDFLAGS = $(fake_kernel_ldflags)

# cli/
unit_programs += %D%/cli-options
%C%_cli_options_SOURCES = %D%/test-filtering.c %D%/test-options.c
%C%_cli_options_CFLAGS = $(unit_cflags)
%C%_cli_options_LDADD = $(unit_libs) $(verb_libs) $(CHECK_LIBS)

unit_programs += %D%/cli-terminal
%C%_cli_terminal_SOURCES = %D%/test-outfile.c %D%/test-summary.c %D%/test-table.c
%C%_cli_terminal_CFLAGS = $(unit_cflags)
%C%_cli_terminal_LDADD = $(unit_libs) $(verb_libs) $(CHECK_LIBS)

unit_programs += %D%/cli-contact
%C%_cli_contact_SOURCES = %D%/test-client.c %D%/test-remote.c %D%/test-remote-output.c
%C%_cli_contact_CFLAGS = $(unit_cflags)
%C%_cli_contact_LDADD = $(unit_libs) $(verb_libs) $(CHECK_LIBS)

unit_programs += %D%/cli-source
%C%_cli_source_SOURCES = %D%/test-damage.c %D%/test-drawing.c %D%/test-source.c %D%/test-windows.c
%C%_cli_source_CFLAGS = $(unit_cflags)
%C%_cli_source_LDADD = $(unit_libs) $(verb_libs) $(export_libs) -lm $(CHECK_LIBS)

unit_programs += %D%/cli-record
%C%_cli_record_SOURCES = %D%/test-recording.c %D%/test-selection.c
%C%_cli_record_CFLAGS = $(unit_cflags)
%C%_cli_record_LDADD = $(unit_libs) $(verb_libs) $(CHECK_LIBS)

unit_programs += %D%/cli-views
%C%_cli_views_SOURCES = %D%/test-where.c
%C%_cli_views_CFLAGS = $(unit_cflags)
%C%_cli_views_LDADD = $(unit_libs) $(verb_libs) $(CHECK_LIBS)

unit_programs += %D%/cli-files
%C%_cli_files_SOURCES = %D%/test-last-words.c %D%/test-tracedat.c %D%/test-verify.c
%C%_cli_files_CFLAGS = $(unit_cflags)
%C%_cli_files_LDADD = $(unit_libs) $(verb_libs) $(CHECK_LIBS)

unit_programs += %D%/cli-schedule
%C%_cli_schedule_SOURCES = %D%/test-schedule.c
%C%_cli_schedule_CFLAGS = $(unit_cflags)
%C%_cli_schedule_LDADD = $(unit_libs) $(verb_libs) $(CHECK_LIBS)

# Suites that put something of their own in the place of what is below them stand alone.
unit_programs += %D%/daemon-rotation
%C%_daemon_rotation_SOURCES = %D%/test-rotation.c
%C%_daemon_rotation_CFLAGS = $(unit_cflags)
%C%_daemon_rotation_LDADD = $(unit_libs) $(daemon_libs) $(CHECK_LIBS)
%C%_daemon_rotation_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=recorder_sequence,--wrap=recorder_first_open \
	-Wl,--wrap=recorder_oldest_open,--wrap=recorder_cut,--wrap=recorder_kick

# A small kernel with debug information, and a module of it, as gcc makes them: tests know its code.
lines_gcc = $(if $(findstring clang,$(CC)),gcc,$(CC))
lines_samples = %D%/lines/vmlinux %D%/lines/sample.ko
check_DATA += $(lines_samples)
CLEANFILES += $(lines_samples)
EXTRA_DIST += %D%/lines-sample.c %D%/lines-sample-2.c %D%/lines-sample-module.c
lines_cc = $(AM_V_CC)$(MKDIR_P) %D%/lines && $(lines_gcc) -g -gdwarf-5 -O2 -fno-pie -fno-stack-protector -fcf-protection=none \
	-ffile-prefix-map=$(abs_builddir)=. $(if $(findstring x86_64,$(shell $(lines_gcc) -dumpmachine)),-pg -mfentry,-fpatchable-function-entry=2)
%D%/lines/vmlinux: %D%/lines-sample.c %D%/lines-sample-2.c
	$(lines_cc) -no-pie -nostdlib -static -Wl,-e,start_kernel -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233 -o $@ $^
%D%/lines/sample.ko: %D%/lines-sample-module.c
	$(lines_cc) -c -o $@ $<

# Completion needs a shell.
dist_check_SCRIPTS += %D%/test-completion.sh
TESTS += %D%/test-completion.sh
