# lib/programs
noinst_LIBRARIES += %D%/libprograms.a
%C%_libprograms_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ELFUTILS_CFLAGS)
%C%_libprograms_a_SOURCES = \
	%D%/demangle.c \
	%D%/elf-notes.c \
	%D%/perf-map.c \
	%D%/programs-private.h \
	%D%/programs.c \
	%D%/programs.h
if HAVE_ELFUTILS
%C%_libprograms_a_SOURCES += %D%/program-image.c %D%/unwind.c
endif
programs_libs = %D%/libprograms.a
