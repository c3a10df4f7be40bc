# lib/meta
noinst_LIBRARIES += %D%/libmeta.a
%C%_libmeta_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libmeta_a_SOURCES = \
	%D%/boot-instance.c \
	%D%/boot-instance.h \
	%D%/bounds.h \
	%D%/brief.c \
	%D%/brief.h \
	%D%/captures.c \
	%D%/captures.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/config.c \
	%D%/config.h \
	%D%/event-choice.c \
	%D%/event-choice.h \
	%D%/gap.c \
	%D%/gap.h \
	%D%/gone.c \
	%D%/gone.h \
	%D%/hook-change.c \
	%D%/hook-change.h \
	%D%/json-field.c \
	%D%/json-field.h \
	%D%/meta.c \
	%D%/meta.h \
	%D%/own-work.c \
	%D%/own-work.h \
	%D%/profile.c \
	%D%/profile.h \
	%D%/sample.c \
	%D%/sample.h \
	%D%/silence.c \
	%D%/silence.h \
	%D%/spec.c \
	%D%/spec.h \
	%D%/trace-clock.c \
	%D%/trace-clock.h \
	%D%/trigger.c \
	%D%/trigger.h
meta_libs = %D%/libmeta.a $(base_libs) $(JANSSON_LIBS)
