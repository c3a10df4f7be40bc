# lib/codec
noinst_LIBRARIES += %D%/libcodec.a
%C%_libcodec_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS) $(ZLIB_CFLAGS)
%C%_libcodec_a_SOURCES = \
	%D%/block.c \
	%D%/block.h \
	%D%/columns.c \
	%D%/columns.h \
	%D%/dat-body.c \
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
	%D%/join.c \
	%D%/model.c \
	%D%/model.h \
	%D%/page-source.c \
	%D%/page-source.h \
	%D%/record.h \
	%D%/sealed-reader.c \
	%D%/sealed-reader.h \
	%D%/sealed-writer.c \
	%D%/sealed-writer.h \
	%D%/split.c
codec_libs = %D%/libcodec.a $(store_libs) $(ZLIB_LIBS)
