# lib/encode
noinst_LIBRARIES += %D%/libencode.a
%C%_libencode_a_CFLAGS = $(AM_CFLAGS) $(ZSTD_CFLAGS)
%C%_libencode_a_SOURCES = \
	%D%/escape.c \
	%D%/escape.h \
	%D%/excerpts.c \
	%D%/excerpts.h \
	%D%/parquet-encode.c \
	%D%/parquet-encode.h \
	%D%/parquet-texts.c \
	%D%/parquet.c \
	%D%/parquet.h \
	%D%/protobuf.c \
	%D%/protobuf.h \
	%D%/spill.c \
	%D%/spill.h \
	%D%/tsv.c
encode_libs = %D%/libencode.a $(base_libs)
