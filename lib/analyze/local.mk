# lib/analyze
noinst_LIBRARIES += %D%/libanalyze.a
%C%_libanalyze_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libanalyze_a_SOURCES = \
	%D%/anatomy.c \
	%D%/anatomy.h \
	%D%/breakdown.c \
	%D%/breakdown.h \
	%D%/call-tree.c \
	%D%/call-tree.h \
	%D%/chance.c \
	%D%/chance.h \
	%D%/cohorts.c \
	%D%/critical-path.c \
	%D%/critical-path.h \
	%D%/heat-map.c \
	%D%/heat-map.h \
	%D%/held.c \
	%D%/held.h \
	%D%/outliers.c \
	%D%/outliers.h \
	%D%/overhead.c \
	%D%/overhead.h \
	%D%/pairing.c \
	%D%/pairing.h \
	%D%/quantiles.c \
	%D%/quantiles.h \
	%D%/role.c \
	%D%/role.h \
	%D%/sched.c \
	%D%/sched.h \
	%D%/timelines.c \
	%D%/waits.c \
	%D%/waits.h \
	%D%/why.c \
	%D%/why.h \
	%D%/why-places.c \
	%D%/why-private.h \
	%D%/why-sentence.c \
	%D%/why-test.c \
	%D%/why-values.c
analyze_libs = %D%/libanalyze.a $(calls_libs)
