# lib/codec
noinst_LIBRARIES += %D%/libcodec.a
%C%_libcodec_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS) $(ZLIB_CFLAGS)
%C%_libcodec_a_SOURCES = \
	%D%/block.c \
	%D%/block.h \
	%D%/columns.c \
	%D%/columns.h \
	%D%/dat-body.c \
	%D%/dat-bytes.h \
	%D%/dat-file.c \
	%D%/dat-file.h \
	%D%/dat-format.h \
	%D%/dat-head.c \
	%D%/dat-head.h \
	%D%/dat-losses.c \
	%D%/dat-losses.h \
	%D%/dat-origin.c \
	%D%/dat-origin.h \
	%D%/dat-pages.c \
	%D%/dat-pages.h \
	%D%/dat-plan.c \
	%D%/dat-plan.h \
	%D%/dat-private.h \
	%D%/dat-start.c \
	%D%/dat-start.h \
	%D%/dat-times.c \
	%D%/dat-times.h \
	%D%/dat-unpack.c \
	%D%/dat-writer.c \
	%D%/dat-writer.h \
	%D%/join.c \
	%D%/layout.c \
	%D%/layout.h \
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
