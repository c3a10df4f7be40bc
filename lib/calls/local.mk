# lib/calls
noinst_LIBRARIES += %D%/libcalls.a
%C%_libcalls_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libcalls_a_SOURCES = \
	%D%/todo.c
calls_libs = %D%/libcalls.a $(decode_libs)
