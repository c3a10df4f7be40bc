# lib/export
noinst_LIBRARIES += %D%/libexport.a
%C%_libexport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS)
%C%_libexport_a_SOURCES = \
	%D%/chrome.c \
	%D%/dot.c \
	%D%/escape.c \
	%D%/escape.h \
	%D%/exporter.c \
	%D%/exporter.h \
	%D%/flame-script.c \
	%D%/flame.c \
	%D%/flame.h \
	%D%/folded.c \
	%D%/html.c \
	%D%/intern.c \
	%D%/intern.h \
	%D%/otlp.c \
	%D%/parquet-beside.c \
	%D%/parquet-beside.h \
	%D%/parquet-calls.c \
	%D%/parquet-encode.c \
	%D%/parquet-encode.h \
	%D%/parquet.c \
	%D%/parquet.h \
	%D%/perfetto.c \
	%D%/spans.c \
	%D%/spans.h \
	%D%/speedscope.c \
	%D%/spill.c \
	%D%/spill.h \
	%D%/table.c \
	%D%/thrift.c \
	%D%/thrift.h
export_libs = %D%/libexport.a $(analyze_libs)
dist_pkgdata_DATA += %D%/calls.schema.json
