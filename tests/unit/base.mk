# unit tests of base
unit_tests += %D%/test-buf %D%/test-ini %D%/test-io %D%/test-name %D%/test-strv %D%/test-unit
%C%_test_buf_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_buf_LDADD   = $(base_libs) $(CHECK_LIBS)
%C%_test_ini_CFLAGS  = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_ini_LDADD   = $(base_libs) $(CHECK_LIBS)
%C%_test_io_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_io_LDADD    = $(base_libs) $(CHECK_LIBS)
%C%_test_name_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_name_LDADD  = $(base_libs) $(CHECK_LIBS)
%C%_test_strv_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_strv_LDADD  = $(base_libs) $(CHECK_LIBS)
%C%_test_unit_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
%C%_test_unit_LDADD  = $(base_libs) $(CHECK_LIBS)
