# lib/meta
noinst_LIBRARIES += %D%/libmeta.a
%C%_libmeta_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(XXHASH_CFLAGS)
%C%_libmeta_a_SOURCES = \
	%D%/brief.c \
	%D%/brief.h \
	%D%/clock.c \
	%D%/clock.h \
	%D%/config.c \
	%D%/config.h \
	%D%/event-choice.c \
	%D%/event-choice.h \
	%D%/gap.c \
	%D%/gap.h \
	%D%/json-field.c \
	%D%/json-field.h \
	%D%/meta.c \
	%D%/meta.h \
	%D%/profile.c \
	%D%/profile.h \
	%D%/spec.c \
	%D%/spec.h \
	%D%/trigger.c \
	%D%/trigger.h
meta_libs = %D%/libmeta.a $(base_libs) $(JANSSON_LIBS)
