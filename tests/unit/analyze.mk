# unit tests of analyze
analyze_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
unit_tests += %D%/test-expected %D%/test-breakdown %D%/test-call-tree %D%/test-pairing %D%/test-role %D%/test-spread
%C%_test_expected_CFLAGS = $(analyze_test_cflags)
%C%_test_expected_LDADD  = $(import_libs) $(analyze_libs) $(CHECK_LIBS) $(JANSSON_LIBS) -lm
%C%_test_breakdown_CFLAGS  = $(analyze_test_cflags)
%C%_test_breakdown_LDADD   = $(analyze_libs) $(CHECK_LIBS)
%C%_test_role_CFLAGS     = $(analyze_test_cflags)
%C%_test_role_LDADD      = $(analyze_libs) $(CHECK_LIBS)
%C%_test_spread_CFLAGS   = $(analyze_test_cflags)
%C%_test_spread_LDADD    = $(analyze_libs) $(CHECK_LIBS)
%C%_test_call_tree_CFLAGS = $(analyze_test_cflags)
%C%_test_call_tree_LDADD  = $(analyze_libs) $(CHECK_LIBS)
%C%_test_pairing_CFLAGS = $(analyze_test_cflags)
%C%_test_pairing_LDADD  = $(analyze_libs) $(CHECK_LIBS)
