# lib/import
noinst_LIBRARIES += %D%/libimport.a
%C%_libimport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libimport_a_SOURCES = \
	%D%/envelope.c \
	%D%/envelope.h \
	%D%/event-line.c \
	%D%/event-text.c \
	%D%/foreign-text.c \
	%D%/foreign-text.h \
	%D%/graph-line.c \
	%D%/graph-text.c \
	%D%/indent-line.c \
	%D%/indent-text.c \
	%D%/labels.c \
	%D%/labels.h \
	%D%/lines.c \
	%D%/lines.h \
	%D%/prefix.c \
	%D%/prefix.h \
	%D%/scan.c \
	%D%/scan.h \
	%D%/source-form.c \
	%D%/source-form.h \
	%D%/text-calls.c \
	%D%/text-kinds.c \
	%D%/text-line.h \
	%D%/text-notes.c \
	%D%/text-trace-private.h \
	%D%/text-trace.c \
	%D%/text-trace.h \
	%D%/unwrap.c
import_libs = %D%/libimport.a $(calls_libs)
