# lib/codec
noinst_LIBRARIES += %D%/libcodec.a
%C%_libcodec_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS)
%C%_libcodec_a_SOURCES = \
	%D%/block.c \
	%D%/block.h \
	%D%/page-source.c \
	%D%/page-source.h \
	%D%/sealed-reader.c \
	%D%/sealed-reader.h \
	%D%/sealed-writer.c \
	%D%/sealed-writer.h
codec_libs = %D%/libcodec.a $(store_libs)
