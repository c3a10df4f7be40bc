# unit tests of daemon
unit_tests += %D%/test-address %D%/test-reader %D%/test-transition
daemon_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS) -pthread
daemon_test_libs   = $(daemon_libs) $(CHECK_LIBS)
%C%_test_address_CFLAGS    = $(daemon_test_cflags)
%C%_test_address_LDADD     = $(daemon_test_libs)
%C%_test_reader_CFLAGS     = $(daemon_test_cflags)
%C%_test_reader_LDADD      = $(daemon_test_libs)
%C%_test_transition_CFLAGS = $(daemon_test_cflags)
%C%_test_transition_LDADD  = $(daemon_test_libs)
