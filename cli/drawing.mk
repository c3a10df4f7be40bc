# What reads a recording, apart from the verbs that ask for it, so that unit tests can have it alone.
noinst_LIBRARIES += %D%/libdrawing.a
%C%_libdrawing_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libdrawing_a_SOURCES = \
	%D%/damage.c \
	%D%/damage.h \
	%D%/deep-check.c \
	%D%/deep-check.h \
	%D%/drawing.c \
	%D%/drawing.h \
	%D%/filtering.c \
	%D%/filtering.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/root-limits.c \
	%D%/root-limits.h \
	%D%/sentence.c \
	%D%/sentence.h \
	%D%/summary.c \
	%D%/summary.h \
	%D%/kallsyms-text.c \
	%D%/kallsyms-text.h \
	%D%/tracedat.c \
	%D%/tracedat.h \
	%D%/verify.c \
	%D%/verify.h
drawing_libs = %D%/libdrawing.a $(analyze_libs) $(render_libs)
