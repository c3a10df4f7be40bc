# lib/learn
noinst_LIBRARIES += %D%/liblearn.a
%C%_liblearn_a_SOURCES = \
	%D%/function-counts.c \
	%D%/function-counts.h
learn_libs = %D%/liblearn.a $(decode_libs)
