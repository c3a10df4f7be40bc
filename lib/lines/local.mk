# lib/lines
noinst_LIBRARIES += %D%/liblines.a
%C%_liblines_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(ELFUTILS_CFLAGS) $(DEBUGINFOD_CFLAGS)
%C%_liblines_a_SOURCES = \
	%D%/code-symbols.c \
	%D%/code.c \
	%D%/follow.c \
	%D%/layer.c \
	%D%/lines-file.c \
	%D%/lines-private.h \
	%D%/lines-write.c \
	%D%/lines.c \
	%D%/lines.h \
	%D%/object.c \
	%D%/search.c \
	%D%/walk.c \
	%D%/ways.c
if HAVE_ELFUTILS
%C%_liblines_a_SOURCES += %D%/dwarf.c %D%/image.c %D%/image.h
endif
lines_libs = %D%/liblines.a $(analyze_libs) $(ELFUTILS_LIBS)
