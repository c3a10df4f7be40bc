# lib/decode
noinst_LIBRARIES += %D%/libdecode.a
%C%_libdecode_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(TRACEEVENT_CFLAGS)
%C%_libdecode_a_SOURCES = \
	%D%/todo.c
decode_libs = %D%/libdecode.a $(store_libs) $(TRACEEVENT_LIBS)
