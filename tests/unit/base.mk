unit_tests += %D%/test-name %D%/test-unit
%C%_test_name_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_name_LDADD = $(base_libs) $(CHECK_LIBS)
%C%_test_unit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_unit_LDADD = $(base_libs) $(CHECK_LIBS)
