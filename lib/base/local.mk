# lib/base
noinst_LIBRARIES += %D%/libbase.a
%C%_libbase_a_CFLAGS = $(AM_CFLAGS)
%C%_libbase_a_SOURCES = \
	%D%/append.h \
	%D%/buf.c \
	%D%/bytes.h \
	%D%/buf.h \
	%D%/cleanup.h \
	%D%/conf-files.c \
	%D%/conf-files.h \
	%D%/cpu-list.c \
	%D%/cpu-list.h \
	%D%/debug-domain.c \
	%D%/debug-domain.h \
	%D%/figure.c \
	%D%/figure.h \
	%D%/grow.c \
	%D%/grow.h \
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
	%D%/now.h \
	%D%/origin.c \
	%D%/origin.h \
	%D%/plain-text.c \
	%D%/plain-text.h \
	%D%/poll.c \
	%D%/poll.h \
	%D%/release.c \
	%D%/release.h \
	%D%/strv.c \
	%D%/strv.h \
	%D%/text.h \
	%D%/typo.c \
	%D%/typo.h \
	%D%/unit.c \
	%D%/unit.h
base_libs = %D%/libbase.a
