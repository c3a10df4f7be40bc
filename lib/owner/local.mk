# lib/owner
noinst_LIBRARIES += %D%/libowner.a
%C%_libowner_a_CFLAGS = $(AM_CFLAGS)
%C%_libowner_a_SOURCES = \
	%D%/cgroup-words.c \
	%D%/cgroup-words.h \
	%D%/owners.c \
	%D%/owners.h
owner_libs = %D%/libowner.a $(decode_libs)
