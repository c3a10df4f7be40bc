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
	%D%/by-root.c \
	%D%/by-root.h \
	%D%/call-tree.c \
	%D%/call-tree.h \
	%D%/chance.c \
	%D%/chance.h \
	%D%/cohorts.c \
	%D%/cohorts.h \
	%D%/critical-path.c \
	%D%/critical-path.h \
	%D%/diff.c \
	%D%/diff.h \
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
	%D%/root-profile.c \
	%D%/root-profile.h \
	%D%/sched.c \
	%D%/sched.h \
	%D%/timelines.c \
	%D%/timelines.h \
	%D%/waits.c \
	%D%/waits.h \
	%D%/why.c \
	%D%/why.h \
	%D%/why-factors.c \
	%D%/why-sentence.c \
	%D%/why-sentence.h \
	%D%/why-test.c
analyze_libs = %D%/libanalyze.a $(calls_libs)
