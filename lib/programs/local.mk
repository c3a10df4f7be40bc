# lib/programs
noinst_LIBRARIES += %D%/libprograms.a
%C%_libprograms_a_CFLAGS = $(AM_CFLAGS)
%C%_libprograms_a_SOURCES = \
	%D%/elf-notes.c \
	%D%/elf-notes.h
programs_libs = %D%/libprograms.a
