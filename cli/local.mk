# cli/: unprivileged; decodes and draws as the user.
include %D%/drawing.mk

# What the verbs share, apart from the verbs, so that unit tests can have it.
noinst_LIBRARIES += %D%/libverb.a
%C%_libverb_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libverb_a_SOURCES = \
	%D%/action.c \
	%D%/action.h \
	%D%/calendar.c \
	%D%/calendar.h \
	%D%/capture-log.c \
	%D%/capture-log.h \
	%D%/chosen.c \
	%D%/chosen.h \
	%D%/client.c \
	%D%/client.h \
	%D%/command.c \
	%D%/command.h \
	%D%/contact.c \
	%D%/contact.h \
	%D%/counting.c \
	%D%/counting.h \
	%D%/display.c \
	%D%/display.h \
	%D%/excerpt.c \
	%D%/excerpt.h \
	%D%/figures.c \
	%D%/figures.h \
	%D%/fleet.c \
	%D%/fleet.h \
	%D%/function-list.c \
	%D%/function-list.h \
	%D%/metrics.c \
	%D%/metrics.h \
	%D%/live-top.c \
	%D%/merged-report.c \
	%D%/merged-report.h \
	%D%/live-top.h \
	%D%/option-value.c \
	%D%/option-value.h \
	%D%/options.c \
	%D%/options.h \
	%D%/outfile.c \
	%D%/outfile.h \
	%D%/private.c \
	%D%/private.h \
	%D%/reading.c \
	%D%/record-finder.c \
	%D%/record-finder.h \
	%D%/reading.h \
	%D%/recording.c \
	%D%/recording.h \
	%D%/remote.c \
	%D%/remote.h \
	%D%/rules.c \
	%D%/rules.h \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/selection.c \
	%D%/selection.h \
	%D%/signals.c \
	%D%/signals.h \
	%D%/source.c \
	%D%/source.h \
	%D%/status.h \
	%D%/sweeper.c \
	%D%/sweeper.h \
	%D%/table.c \
	%D%/text-report.c \
	%D%/text-report.h \
	%D%/text-source.c \
	%D%/text-source.h \
	%D%/table.h \
	%D%/terminal.c \
	%D%/terminal.h \
	%D%/top-view.c \
	%D%/top-view.h \
	%D%/tree-view.c \
	%D%/tree-view.h \
	%D%/upkeep.c \
	%D%/upkeep.h \
	%D%/waiting.c \
	%D%/waiting.h
verb_libs = %D%/libverb.a $(import_libs) $(analyze_libs) $(drawing_libs) $(wire_libs) $(store_libs)

bin_PROGRAMS += ftracectl
ftracectl_SOURCES = \
	%D%/capture.c \
	%D%/capture.h \
	%D%/later.c \
	%D%/later.h \
	%D%/main.c \
	%D%/units.c \
	%D%/units.h \
	%D%/verb-arm.c \
	%D%/verb-calls.c \
	%D%/verb-cat-config.c \
	%D%/verb-check.c \
	%D%/verb-diff.c \
	%D%/verb-doctor.c \
	%D%/verb-export.c \
	%D%/verb-fetch.c \
	%D%/verb-follow.c \
	%D%/verb-functions.c \
	%D%/verb-hist.c \
	%D%/verb-keep.c \
	%D%/verb-list.c \
	%D%/verb-metrics.c \
	%D%/verb-pin.c \
	%D%/verb-profile.c \
	%D%/verb-remove.c \
	%D%/verb-report.c \
	%D%/verb-run.c \
	%D%/verb-schedule.c \
	%D%/verb-show.c \
	%D%/verb-slow.c \
	%D%/verb-start.c \
	%D%/verb-status.c \
	%D%/verb-stop.c \
	%D%/verb-top.c \
	%D%/verb-tree.c \
	%D%/verb-trigger.c \
	%D%/verb-seal.c \
	%D%/verb-vacuum.c \
	%D%/verb-verify.c \
	%D%/verb-waits.c \
	%D%/verb.h
ftracectl_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
ftracectl_LDADD = $(verb_libs) $(export_libs) -lm $(SYSTEMD_LIBS)
man_pages += %D%/ftracectl.1
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
