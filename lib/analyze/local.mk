# lib/analyze
noinst_LIBRARIES += %D%/libanalyze.a
%C%_libanalyze_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libanalyze_a_SOURCES = \
	%D%/breakdown.c \
	%D%/breakdown.h \
	%D%/call-tree.c \
	%D%/call-tree.h \
	%D%/pairing.c \
	%D%/pairing.h \
	%D%/role.c \
	%D%/role.h \
	%D%/spread.c \
	%D%/spread.h
analyze_libs = %D%/libanalyze.a $(calls_libs)
