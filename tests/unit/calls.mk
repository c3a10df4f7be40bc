# unit tests of calls
calls_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
unit_tests += %D%/test-census %D%/test-function %D%/test-prune %D%/test-stacks %D%/test-steps \
	%D%/test-trees
EXTRA_DIST += %D%/step-builder.h
%C%_test_census_CFLAGS   = $(calls_test_cflags)
%C%_test_census_LDADD    = $(calls_libs) $(CHECK_LIBS)
%C%_test_function_CFLAGS = $(calls_test_cflags)
%C%_test_function_LDADD  = $(calls_libs) $(CHECK_LIBS)
%C%_test_prune_CFLAGS    = $(calls_test_cflags)
%C%_test_prune_LDADD     = $(calls_libs) $(CHECK_LIBS)
%C%_test_stacks_CFLAGS   = $(calls_test_cflags)
%C%_test_stacks_LDADD    = $(calls_libs) $(CHECK_LIBS)
%C%_test_steps_SOURCES   = %D%/test-steps.c $(player)
%C%_test_steps_CFLAGS    = $(calls_test_cflags)
%C%_test_steps_LDADD     = $(calls_libs) $(CHECK_LIBS)
%C%_test_trees_CFLAGS    = $(calls_test_cflags)
%C%_test_trees_LDADD     = $(calls_libs) $(CHECK_LIBS)
unit_tests += %D%/test-prototypes
%C%_test_prototypes_CFLAGS = $(calls_test_cflags)
%C%_test_prototypes_LDADD  = $(calls_libs) $(CHECK_LIBS)
unit_tests += %D%/test-filter
%C%_test_filter_SOURCES = %D%/test-filter.c $(player)
%C%_test_filter_CFLAGS  = $(calls_test_cflags)
%C%_test_filter_LDADD   = $(calls_libs) $(CHECK_LIBS)
