# lib/calls
noinst_LIBRARIES += %D%/libcalls.a
%C%_libcalls_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libcalls_a_SOURCES = \
	%D%/callers.c \
	%D%/census.c \
	%D%/census.h \
	%D%/filter.c \
	%D%/filter.h \
	%D%/function.c \
	%D%/function.h \
	%D%/playback.c \
	%D%/playback.h \
	%D%/stacks.c \
	%D%/stacks.h \
	%D%/step.c \
	%D%/step.h \
	%D%/steps.c \
	%D%/steps.h \
	%D%/tail-sampler.c \
	%D%/trace-context.c \
	%D%/values.c
calls_libs = %D%/libcalls.a $(types_libs) $(spaces_libs) $(owner_libs)
