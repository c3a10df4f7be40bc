# lib/calls
noinst_LIBRARIES += %D%/libcalls.a
%C%_libcalls_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libcalls_a_SOURCES = \
	%D%/arguments.c \
	%D%/arguments.h \
	%D%/census.c \
	%D%/census.h \
	%D%/filter.c \
	%D%/filter.h \
	%D%/function.c \
	%D%/function.h \
	%D%/name-set.c \
	%D%/name-set.h \
	%D%/playback.c \
	%D%/playback.h \
	%D%/prune.c \
	%D%/prune.h \
	%D%/reorder.c \
	%D%/reorder.h \
	%D%/stacks.c \
	%D%/stacks.h \
	%D%/values.c \
	%D%/values.h \
	%D%/step-copy.c \
	%D%/step-copy.h \
	%D%/step.h \
	%D%/steps.c \
	%D%/steps.h \
	%D%/tail-sampler.c \
	%D%/tail-sampler.h \
	%D%/trace-context.c \
	%D%/trace-context.h \
	%D%/trees.c \
	%D%/trees.h \
	%D%/unhooked.c \
	%D%/unhooked.h
calls_libs = %D%/libcalls.a $(decode_libs)
