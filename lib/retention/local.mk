# lib/retention
noinst_LIBRARIES += %D%/libretention.a
%C%_libretention_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libretention_a_SOURCES = \
	%D%/boot-clock.c \
	%D%/boot-clock.h \
	%D%/footprint.c \
	%D%/footprint.h \
	%D%/keep.c \
	%D%/keep.h \
	%D%/outlook.c \
	%D%/outlook.h \
	%D%/removed.c \
	%D%/removed.h \
	%D%/retain.c \
	%D%/retain.h \
	%D%/vacuum.c \
	%D%/vacuum.h
retention_libs = %D%/libretention.a $(store_libs)
