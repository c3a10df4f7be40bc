# lib/codec
noinst_LIBRARIES += %D%/libcodec.a
%C%_libcodec_a_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS) $(XXHASH_CFLAGS)
%C%_libcodec_a_SOURCES = \
	%D%/block.c \
	%D%/block.h \
	%D%/columns.c \
	%D%/columns.h \
	%D%/join.c \
	%D%/model.c \
	%D%/model.h \
	%D%/record.h \
	%D%/pieces.c \
	%D%/pieces.h \
	%D%/sealed-reader.c \
	%D%/sealed-reader.h \
	%D%/sealed-writer.c \
	%D%/sealed-writer.h \
	%D%/split.c
codec_libs = %D%/libcodec.a $(store_libs) -lpthread
