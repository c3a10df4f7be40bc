# lib/base
noinst_LIBRARIES += %D%/libbase.a
%C%_libbase_a_CFLAGS = $(AM_CFLAGS)
%C%_libbase_a_SOURCES = \
	%D%/array.c \
	%D%/array.h \
	%D%/buf.c \
	%D%/buf.h \
	%D%/bytes.h \
	%D%/cleanup.h \
	%D%/hash.c \
	%D%/hash.h \
	%D%/ini.c \
	%D%/ini.h \
	%D%/io.c \
	%D%/io.h \
	%D%/log.c \
	%D%/log.h \
	%D%/name.c \
	%D%/name.h \
	%D%/origin.c \
	%D%/origin.h \
	%D%/unit.c \
	%D%/unit.h
base_libs = %D%/libbase.a
