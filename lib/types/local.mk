# lib/types
noinst_LIBRARIES += %D%/libtypes.a
%C%_libtypes_a_SOURCES = \
	%D%/args-choice.c \
	%D%/args-choice.h \
	%D%/btf.c \
	%D%/btf.h \
	%D%/members.c \
	%D%/members.h \
	%D%/prototypes.c \
	%D%/prototypes.h
types_libs = %D%/libtypes.a $(base_libs)
