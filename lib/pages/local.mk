# lib/pages
noinst_LIBRARIES += %D%/libpages.a
%C%_libpages_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(ZLIB_CFLAGS)
%C%_libpages_a_SOURCES = \
	%D%/dat-body.c \
	%D%/dat-bytes.c \
	%D%/dat-file.c \
	%D%/dat-file.h \
	%D%/dat-head.c \
	%D%/dat-losses.c \
	%D%/dat-origin.c \
	%D%/dat-pages.c \
	%D%/dat-private.h \
	%D%/dat-times.c \
	%D%/dat-writer.c \
	%D%/dat-writer.h \
	%D%/page-source.c \
	%D%/page-source.h \
	%D%/page-walk.c
pages_libs = %D%/libpages.a $(codec_libs) $(ZLIB_LIBS)
