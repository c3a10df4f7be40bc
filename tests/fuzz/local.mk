# Fuzz targets: fuzz-NAME.c and corpus/NAME/.  A new one is four lines here: its name in the list,
# its _CFLAGS, _LDFLAGS and _LDADD.
# Without --enable-fuzzers each replays its corpus as a test; with it each is a libFuzzer binary,
# and the whole tree is built with its instrumentation and the sanitizers:
#     configure CC=clang --enable-fuzzers && make tests/fuzz/fuzz-meta &&
#     tests/fuzz/fuzz-meta /a/new/directory .../tests/fuzz/corpus/meta
fuzz_targets = \
	%D%/fuzz-block \
	%D%/fuzz-block-roundtrip \
	%D%/fuzz-boot-instance \
	%D%/fuzz-call \
	%D%/fuzz-config \
	%D%/fuzz-cuts \
	%D%/fuzz-everything \
	%D%/fuzz-foreign \
	%D%/fuzz-formats \
	%D%/fuzz-frame \
	%D%/fuzz-text \
	%D%/fuzz-lean \
	%D%/fuzz-lines \
	%D%/fuzz-ledger \
	%D%/fuzz-live \
	%D%/fuzz-elf-notes \
	%D%/fuzz-members \
	%D%/fuzz-meta \
	%D%/fuzz-owners \
	%D%/fuzz-plain-text \
	%D%/fuzz-profile \
	%D%/fuzz-programs \
	%D%/fuzz-prototypes \
	%D%/fuzz-records \
	%D%/fuzz-rescue \
	%D%/fuzz-sealed \
	%D%/fuzz-segment \
	%D%/fuzz-stack-copies \
	%D%/fuzz-symbols \
	%D%/fuzz-function-counts \
	%D%/fuzz-trace-context \
	%D%/fuzz-tracedat \
	%D%/fuzz-trigger \
	%D%/fuzz-values
%C%_fuzz_programs_CFLAGS = $(fuzz_cflags)
%C%_fuzz_programs_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_programs_LDADD = $(programs_libs) $(spaces_libs) $(ELFUTILS_LIBS) $(LIBIBERTY_LIBS) $(fuzz_libs)
%C%_fuzz_owners_CFLAGS = $(fuzz_cflags)
%C%_fuzz_owners_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_owners_LDADD = $(owner_libs) $(fuzz_libs)
%C%_fuzz_stack_copies_CFLAGS = $(fuzz_cflags)
%C%_fuzz_stack_copies_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_stack_copies_LDADD = $(spaces_libs) $(fuzz_libs)
%C%_fuzz_block_CFLAGS = $(fuzz_cflags)
%C%_fuzz_block_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_block_LDADD = $(codec_libs) $(fuzz_libs)
%C%_fuzz_block_roundtrip_CFLAGS = $(fuzz_cflags)
%C%_fuzz_block_roundtrip_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_block_roundtrip_LDADD = $(codec_libs) $(fuzz_libs)
%C%_fuzz_boot_instance_CFLAGS = $(fuzz_cflags)
%C%_fuzz_boot_instance_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_boot_instance_LDADD = $(store_libs) $(fuzz_libs)
%C%_fuzz_rescue_CFLAGS = $(fuzz_cflags)
%C%_fuzz_rescue_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_rescue_LDADD = $(daemon_libs) $(fuzz_libs)
%C%_fuzz_call_CFLAGS = $(fuzz_cflags)
%C%_fuzz_call_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_call_LDADD = $(daemon_libs) $(fuzz_libs)
%C%_fuzz_config_CFLAGS = $(fuzz_cflags)
%C%_fuzz_config_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_config_LDADD = $(store_libs) $(fuzz_libs)
%C%_fuzz_cuts_CFLAGS = $(fuzz_cflags)
%C%_fuzz_cuts_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_cuts_LDADD = $(store_libs) $(fuzz_libs)
%C%_fuzz_everything_CFLAGS = $(fuzz_cflags)
%C%_fuzz_everything_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_everything_LDADD = $(verb_libs) $(export_libs) $(fuzz_libs) -lm
%C%_fuzz_foreign_CFLAGS = $(fuzz_cflags)
%C%_fuzz_foreign_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_foreign_LDADD = $(analyze_libs) $(fuzz_libs)
%C%_fuzz_formats_CFLAGS = $(fuzz_cflags)
%C%_fuzz_formats_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_formats_LDADD = $(decode_libs) $(fuzz_libs)
%C%_fuzz_frame_CFLAGS = $(fuzz_cflags)
%C%_fuzz_frame_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_frame_LDADD = $(wire_libs) $(fuzz_libs)
%C%_fuzz_lean_CFLAGS = $(fuzz_cflags)
%C%_fuzz_lean_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_lean_LDADD = $(daemon_libs) $(fuzz_libs)
%C%_fuzz_trigger_CFLAGS = $(fuzz_cflags)
%C%_fuzz_trigger_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_trigger_LDADD = $(store_libs) $(fuzz_libs)
%C%_fuzz_ledger_CFLAGS = $(fuzz_cflags)
%C%_fuzz_ledger_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_ledger_LDADD = $(daemon_libs) $(fuzz_libs)
%C%_fuzz_live_CFLAGS = $(fuzz_cflags)
%C%_fuzz_live_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_live_LDADD = $(daemon_libs) $(fuzz_libs)
%C%_fuzz_lines_CFLAGS = $(fuzz_cflags) $(ZSTD_CFLAGS)
%C%_fuzz_lines_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_lines_LDADD = $(lines_libs) $(fuzz_libs)
%C%_fuzz_elf_notes_CFLAGS = $(fuzz_cflags)
%C%_fuzz_elf_notes_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_elf_notes_LDADD = $(programs_libs) $(meta_libs) $(fuzz_libs)
%C%_fuzz_members_CFLAGS = $(fuzz_cflags)
%C%_fuzz_members_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_members_LDADD = $(types_libs) $(fuzz_libs)
%C%_fuzz_meta_CFLAGS = $(fuzz_cflags)
%C%_fuzz_meta_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_meta_LDADD = $(store_libs) $(fuzz_libs)
%C%_fuzz_plain_text_CFLAGS = $(fuzz_cflags)
%C%_fuzz_plain_text_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_plain_text_LDADD = $(base_libs) $(fuzz_libs)
%C%_fuzz_profile_CFLAGS = $(fuzz_cflags)
%C%_fuzz_profile_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_profile_LDADD = $(store_libs) $(fuzz_libs)
%C%_fuzz_prototypes_CFLAGS = $(fuzz_cflags)
%C%_fuzz_prototypes_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_prototypes_LDADD = $(calls_libs) $(fuzz_libs)
%C%_fuzz_records_CFLAGS = $(fuzz_cflags)
%C%_fuzz_records_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_records_LDADD = $(decode_libs) $(fuzz_libs)
%C%_fuzz_sealed_CFLAGS = $(fuzz_cflags)
%C%_fuzz_sealed_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_sealed_LDADD = $(pages_libs) $(fuzz_libs)
%C%_fuzz_segment_CFLAGS = $(fuzz_cflags)
%C%_fuzz_segment_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_segment_LDADD = $(store_libs) $(fuzz_libs)
%C%_fuzz_symbols_CFLAGS = $(fuzz_cflags)
%C%_fuzz_symbols_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_symbols_LDADD = $(decode_libs) $(fuzz_libs)
%C%_fuzz_function_counts_CFLAGS = $(fuzz_cflags)
%C%_fuzz_function_counts_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_function_counts_LDADD = $(learn_libs) $(fuzz_libs)
%C%_fuzz_text_CFLAGS = $(fuzz_cflags)
%C%_fuzz_text_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_text_LDADD = $(import_libs) $(causes_libs) $(render_libs) $(fuzz_libs)
%C%_fuzz_trace_context_CFLAGS = $(fuzz_cflags)
%C%_fuzz_trace_context_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_trace_context_LDADD = $(calls_libs) $(fuzz_libs)
%C%_fuzz_tracedat_CFLAGS = $(fuzz_cflags)
%C%_fuzz_tracedat_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_tracedat_LDADD = $(drawing_libs) $(fuzz_libs)
%C%_fuzz_values_CFLAGS = $(fuzz_cflags)
%C%_fuzz_values_LDFLAGS = $(fuzz_ldflags)
%C%_fuzz_values_LDADD = $(calls_libs) $(fuzz_libs)

fuzz_cflags = $(AM_CFLAGS) $(JANSSON_CFLAGS) -I$(top_srcdir)/%D%
EXTRA_DIST += %D%/corpus %D%/fuzz.h %D%/fuzz-mutate.h %D%/fuzz-repair.h %D%/fuzz-scratch.h %D%/fuzz-session.h %D%/fuzz-steps.h %D%/fuzz-told.h %D%/replay.c %D%/run-long
if ENABLE_FUZZERS
AM_CFLAGS += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
AM_LDFLAGS += -fsanitize=address,undefined
fuzz_ldflags = $(AM_LDFLAGS) -fsanitize=fuzzer
fuzz_libs =
noinst_PROGRAMS += $(fuzz_targets)
else
check_LIBRARIES += %D%/libreplay.a
%C%_libreplay_a_CFLAGS = $(fuzz_cflags)
%C%_libreplay_a_SOURCES = %D%/replay.c
fuzz_ldflags = $(AM_LDFLAGS)
fuzz_libs = %D%/libreplay.a $(base_libs)
check_PROGRAMS += $(fuzz_targets)
TESTS += $(fuzz_targets)
endif

# Part of the long suite: each target for a minute, in a build of its own below this one.
.PHONY: check-fuzz-long
check-fuzz-long:
	$(srcdir)/%D%/run-long '$(abs_top_builddir)/fuzz-long' '$(FUZZ_SECONDS)' $(FUZZ_TARGETS)
