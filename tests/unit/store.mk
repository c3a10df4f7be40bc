# unit tests of store
unit_tests += %D%/test-entry %D%/test-meta %D%/test-page %D%/test-recover %D%/test-segment \
	%D%/test-session-dir %D%/test-spec %D%/test-store %D%/test-symbol-file
store_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
store_test_libs   = $(store_libs) $(CHECK_LIBS)
%C%_test_entry_CFLAGS       = $(store_test_cflags)
%C%_test_entry_LDADD        = $(store_test_libs)
%C%_test_meta_CFLAGS        = $(store_test_cflags)
%C%_test_meta_LDADD         = $(store_test_libs)
%C%_test_page_CFLAGS        = $(store_test_cflags)
%C%_test_page_LDADD         = $(store_test_libs)
%C%_test_recover_CFLAGS     = $(store_test_cflags)
%C%_test_recover_LDADD      = $(store_test_libs)
%C%_test_segment_CFLAGS     = $(store_test_cflags)
%C%_test_segment_LDADD      = $(store_test_libs)
%C%_test_session_dir_CFLAGS = $(store_test_cflags)
%C%_test_session_dir_LDADD  = $(store_test_libs)
%C%_test_spec_CFLAGS        = $(store_test_cflags)
%C%_test_spec_LDADD         = $(store_test_libs)
%C%_test_store_CFLAGS       = $(store_test_cflags)
%C%_test_store_LDADD        = $(store_test_libs)
%C%_test_symbol_file_CFLAGS = $(store_test_cflags)
%C%_test_symbol_file_LDADD  = $(store_test_libs)
EXTRA_DIST += %D%/scratch.h
