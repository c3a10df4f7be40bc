# lib/decode
noinst_LIBRARIES += %D%/libdecode.a
%C%_libdecode_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(TRACEEVENT_CFLAGS)
%C%_libdecode_a_SOURCES = \
	%D%/cursor.c \
	%D%/cursor.h \
	%D%/foreign.c \
	%D%/event-text.h \
	%D%/foreign.h \
	%D%/formats.c \
	%D%/formats.h \
	%D%/names.c \
	%D%/names.h \
	%D%/object.c \
	%D%/object.h \
	%D%/occurrence.c \
	%D%/occurrence.h \
	%D%/print-format.c \
	%D%/printk.c \
	%D%/records.c \
	%D%/records.h \
	%D%/stream.c \
	%D%/syscall-text.c
decode_libs = %D%/libdecode.a $(pages_libs) $(TRACEEVENT_LIBS)
