# lib/render
noinst_LIBRARIES += %D%/librender.a
%C%_librender_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_librender_a_SOURCES = \
	%D%/colour.c \
	%D%/kernel.c \
	%D%/renderer.c \
	%D%/renderer.h
render_libs = %D%/librender.a $(calls_libs)
