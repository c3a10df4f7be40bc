# lib/store
noinst_LIBRARIES += %D%/libstore.a
%C%_libstore_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS)
%C%_libstore_a_SOURCES = \
	%D%/damage.h \
	%D%/entry.c \
	%D%/entry.h \
	%D%/format.h \
	%D%/page.c \
	%D%/page.h \
	%D%/sealed.c \
	%D%/sealed.h \
	%D%/segment-writer.c \
	%D%/segment.c \
	%D%/segment.h \
	%D%/session-dir.c \
	%D%/session-dir.h \
	%D%/store.c \
	%D%/store.h \
	%D%/symbol-file.c \
	%D%/symbol-file.h \
	%D%/tracing.c \
	%D%/tracing.h
store_libs = %D%/libstore.a $(meta_libs) $(ZSTD_LIBS) $(XXHASH_LIBS)

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
