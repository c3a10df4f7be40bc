# lib/codec
noinst_LIBRARIES += %D%/libcodec.a
%C%_libcodec_a_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS)
%C%_libcodec_a_SOURCES = \
	%D%/block.c \
	%D%/block.h
codec_libs = %D%/libcodec.a $(store_libs)
