# cli/: unprivileged; decodes and draws as the user.
include %D%/drawing.mk

# What the verbs share, apart from the verbs, so that unit tests can have it.
noinst_LIBRARIES += %D%/libverb.a
%C%_libverb_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS) $(XXHASH_CFLAGS)
%C%_libverb_a_SOURCES = \
	%D%/schedule/capture.c \
	%D%/contact/client.c \
	%D%/contact/contact.c \
	%D%/contact/contact.h \
	%D%/views/counting.c \
	%D%/source/damage.c \
	%D%/source/drawing.c \
	%D%/source/lines.c \
	%D%/source/programs.c \
	%D%/files/export-files.c \
	%D%/files/files.h \
	%D%/options/filtering.c \
	%D%/options/filtering.h \
	%D%/contact/fleet.c \
	%D%/options/option-value.c \
	%D%/options/options.c \
	%D%/options/options.h \
	%D%/terminal/outfile.c \
	%D%/views/path-view.c \
	%D%/source/reading.c \
	%D%/record/record.h \
	%D%/record/recording.c \
	%D%/contact/remote.c \
	%D%/source/retention.c \
	%D%/schedule/schedule.c \
	%D%/schedule/schedule.h \
	%D%/record/selection.c \
	%D%/source/source.c \
	%D%/source/source.h \
	%D%/terminal/summary.c \
	%D%/terminal/table.c \
	%D%/terminal/terminal.c \
	%D%/terminal/terminal.h \
	%D%/source/text-source.c \
	%D%/views/top-view.c \
	%D%/files/tracedat.c \
	%D%/views/tree-view.c \
	%D%/files/verify.c \
	%D%/views/views.h \
	%D%/views/waits-view.c \
	%D%/views/where.c \
	%D%/views/why-view.c
verb_libs = %D%/libverb.a $(lines_libs) $(programs_libs) $(import_libs) $(causes_libs) $(drawing_libs) $(wire_libs) $(retention_libs) $(SYSTEMD_LIBS) $(ELFUTILS_LIBS) $(LIBIBERTY_LIBS)

bin_PROGRAMS += ftracectl
ftracectl_SOURCES = \
	%D%/main.c \
	%D%/verbs/read/verb-calls.c \
	%D%/verbs/store/verb-collect.c \
	%D%/verbs/read/verb-diff.c \
	%D%/verbs/host/verb-doctor.c \
	%D%/verbs/read/verb-export.c \
	%D%/verbs/store/verb-fetch.c \
	%D%/verbs/record/verb-follow.c \
	%D%/verbs/host/verb-functions.c \
	%D%/verbs/read/verb-hist.c \
	%D%/verbs/read/verb-lines.c \
	%D%/verbs/store/verb-list.c \
	%D%/verbs/host/verb-metrics.c \
	%D%/verbs/read/verb-path.c \
	%D%/verbs/host/verb-profile.c \
	%D%/verbs/store/verb-remove.c \
	%D%/verbs/read/verb-report.c \
	%D%/verbs/record/verb-run.c \
	%D%/schedule/verb-schedule.c \
	%D%/verbs/store/verb-show.c \
	%D%/verbs/read/verb-slow.c \
	%D%/verbs/record/verb-start.c \
	%D%/verbs/host/verb-status.c \
	%D%/verbs/record/verb-stop.c \
	%D%/verbs/read/verb-top.c \
	%D%/verbs/read/verb-tree.c \
	%D%/verbs/store/verb-verify.c \
	%D%/verbs/read/verb-waits.c \
	%D%/verbs/read/verb-why.c

ftracectl_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
ftracectl_LDADD = $(verb_libs) $(export_libs) -lm
man_pages += %D%/ftracectl.1 %D%/ftraced-fleet.7 %D%/ftraced-questions.7 %D%/ftraced-reading.7
dist_pkgdata_DATA += %D%/tables.schema.json
EXTRA_DIST += %D%/completion.bash
bashcompletion_DATA += %D%/ftracectl
CLEANFILES += %D%/ftracectl
%D%/ftracectl: %D%/completion.bash
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)cp $< $@

EXTRA_DIST += %D%/completion.zsh
zshcompletion_DATA += %D%/_ftracectl
CLEANFILES += %D%/_ftracectl
%D%/_ftracectl: %D%/completion.zsh
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)cp $< $@
