# lib/spaces
noinst_LIBRARIES += %D%/libspaces.a
%C%_libspaces_a_CFLAGS = $(AM_CFLAGS)
%C%_libspaces_a_SOURCES = \
	%D%/map-line.c \
	%D%/mapped-files.c \
	%D%/spaces-private.h \
	%D%/spaces.c \
	%D%/spaces.h \
	%D%/stack-copies.c \
	%D%/stack-copies.h
spaces_libs = %D%/libspaces.a $(decode_libs)
