# lib/analyze
noinst_LIBRARIES += %D%/libanalyze.a
%C%_libanalyze_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libanalyze_a_SOURCES = \
	%D%/alike.c \
	%D%/alike.h \
	%D%/anatomy.c \
	%D%/anatomy.h \
	%D%/breakdown.c \
	%D%/breakdown.h \
	%D%/call-tree.c \
	%D%/call-tree.h \
	%D%/chance.c \
	%D%/chance.h \
	%D%/cohorts.c \
	%D%/cohorts.h \
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
	%D%/ranges.c \
	%D%/ranges.h \
	%D%/role.c \
	%D%/role.h \
	%D%/root-calls.c \
	%D%/root-calls.h \
	%D%/sched.c \
	%D%/sched.h \
	%D%/timelines.c \
	%D%/timelines.h \
	%D%/variables.c \
	%D%/variables.h \
	%D%/waits.c \
	%D%/wakers.c \
	%D%/wakers.h \
	%D%/waits.h \
	%D%/why.c \
	%D%/why.h \
	%D%/why-burst.c \
	%D%/why-factors.c \
	%D%/why-sentence.c \
	%D%/why-test.c \
	%D%/why-values.c \
	%D%/why-values.h
analyze_libs = %D%/libanalyze.a $(calls_libs)
