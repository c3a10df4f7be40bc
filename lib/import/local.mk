# lib/import
noinst_LIBRARIES += %D%/libimport.a
%C%_libimport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(ZLIB_CFLAGS)
%C%_libimport_a_SOURCES = \
	%D%/envelope.c \
	%D%/event-text.c \
	%D%/graph-line.c \
	%D%/graph-text.c \
	%D%/indent-text.c \
	%D%/lines.c \
	%D%/source-form.c \
	%D%/text-calls.c \
	%D%/text-kinds.c \
	%D%/text-private.h \
	%D%/text-trace.c \
	%D%/text-trace.h
import_libs = %D%/libimport.a $(calls_libs)
