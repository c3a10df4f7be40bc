# What reads a recording, apart from the verbs that ask for it, so that unit tests can have it alone.
noinst_LIBRARIES += %D%/libdrawing.a
%C%_libdrawing_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libdrawing_a_SOURCES = \
	%D%/source/damage.c \
	%D%/source/source.h \
	%D%/options/filtering.c \
	%D%/options/filtering.h \
	%D%/terminal/summary.c \
	%D%/terminal/terminal.c \
	%D%/terminal/terminal.h \
	%D%/files/tracedat.c \
	%D%/files/files.h \
	%D%/files/verify.c
drawing_libs = %D%/libdrawing.a $(analyze_libs) $(render_libs) $(retention_libs)
