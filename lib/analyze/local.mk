# lib/analyze
noinst_LIBRARIES += %D%/libanalyze.a
%C%_libanalyze_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libanalyze_a_SOURCES = \
	%D%/breakdown.c \
	%D%/breakdown.h \
	%D%/call-tree.c \
	%D%/call-tree.h \
	%D%/heat-map.c \
	%D%/heat-map.h \
	%D%/held.c \
	%D%/held.h \
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
	%D%/telling.c
analyze_libs = %D%/libanalyze.a $(calls_libs)
