# lib/causes
noinst_LIBRARIES += %D%/libcauses.a
%C%_libcauses_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libcauses_a_SOURCES = \
	%D%/anatomy.c \
	%D%/anatomy.h \
	%D%/chance.c \
	%D%/chance.h \
	%D%/cohorts.c \
	%D%/critical-path.c \
	%D%/critical-path.h \
	%D%/outliers.c \
	%D%/outliers.h \
	%D%/timelines.c \
	%D%/waits.c \
	%D%/waits.h \
	%D%/why-choice.c \
	%D%/why-places.c \
	%D%/why-private.h \
	%D%/why-sentence.c \
	%D%/why-test.c \
	%D%/why-values.c \
	%D%/why.c \
	%D%/why.h
causes_libs = %D%/libcauses.a $(analyze_libs)
