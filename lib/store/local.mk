# lib/store
noinst_LIBRARIES += %D%/libstore.a
%C%_libstore_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS)
%C%_libstore_a_SOURCES = \
	%D%/brief.c \
	%D%/brief.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/captures.c \
	%D%/captures.h \
	%D%/config.c \
	%D%/config.h \
	%D%/cut-log.c \
	%D%/cut-log.h \
	%D%/discard.c \
	%D%/discard.h \
	%D%/entry.c \
	%D%/entry.h \
	%D%/event-choice.c \
	%D%/event-choice.h \
	%D%/footprint.c \
	%D%/footprint.h \
	%D%/format.h \
	%D%/gap.c \
	%D%/gap.h \
	%D%/hook-change.c \
	%D%/hook-change.h \
	%D%/json-field.c \
	%D%/json-field.h \
	%D%/boot-instance.c \
	%D%/boot-instance.h \
	%D%/keep.c \
	%D%/keep.h \
	%D%/lock.c \
	%D%/lock.h \
	%D%/meta.c \
	%D%/meta.h \
	%D%/outlook.c \
	%D%/outlook.h \
	%D%/page.c \
	%D%/page.h \
	%D%/profile.c \
	%D%/sample.c \
	%D%/sample.h \
	%D%/profile.h \
	%D%/removed.c \
	%D%/removed.h \
	%D%/tracing-link.c \
	%D%/tracing-link.h \
	%D%/retain.c \
	%D%/retain.h \
	%D%/sealed.c \
	%D%/sealed.h \
	%D%/segment.c \
	%D%/segment-header.c \
	%D%/segment-header.h \
	%D%/silence.c \
	%D%/silence.h \
	%D%/segment-writer.c \
	%D%/segment.h \
	%D%/session-dir.c \
	%D%/session-dir.h \
	%D%/spec.c \
	%D%/spec.h \
	%D%/store.c \
	%D%/store.h \
	%D%/symbol-file.c \
	%D%/symbol-file.h \
	%D%/trace-clock.c \
	%D%/trace-clock.h \
	%D%/trigger.c \
	%D%/trigger.h \
	%D%/uptime.c \
	%D%/uptime.h \
	%D%/vacuum.c \
	%D%/vacuum.h
store_libs = %D%/libstore.a $(base_libs) $(JANSSON_LIBS) $(ZSTD_LIBS) $(XXHASH_LIBS)

# The page is the first comment of the format's header with an introduction.
EXTRA_DIST += %D%/ftraced-store.5.scd.in
if HAVE_SCDOC
man_MANS += %D%/ftraced-store.5
CLEANFILES += %D%/ftraced-store.5
%D%/ftraced-store.5: %D%/ftraced-store.5.scd.in %D%/format.h
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(AWK) 'NR == FNR { if (sub(/^ \* ?/, "") && !done) text = text $$0 "\n"; else if (text) done = 1; next } \
		$$0 == "@CONTENT@" { sub(/\/\n$$/, "", text); $$0 = "```\n" text "```" } 1' \
		$(srcdir)/%D%/format.h $< | $(SCDOC) >$@.tmp && mv $@.tmp $@
endif
