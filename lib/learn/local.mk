# lib/learn
noinst_LIBRARIES += %D%/liblearn.a
%C%_liblearn_a_SOURCES = \
	%D%/tally.c \
	%D%/tally.h
learn_libs = %D%/liblearn.a $(decode_libs)
