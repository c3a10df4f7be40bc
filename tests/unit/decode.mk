# unit tests of decode
decode_test_cflags  = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
page_builder        = %D%/page-builder.c %D%/page-builder.h
unit_tests += %D%/test-atlas %D%/test-cursor %D%/test-formats %D%/test-records %D%/test-stream %D%/test-symbols \
	%D%/test-tasks
%C%_test_atlas_SOURCES   = %D%/test-atlas.c $(page_builder)
%C%_test_atlas_CFLAGS    = $(decode_test_cflags)
%C%_test_atlas_LDADD     = $(decode_libs) $(CHECK_LIBS)
%C%_test_cursor_SOURCES  = %D%/test-cursor.c $(page_builder)
%C%_test_cursor_CFLAGS   = $(decode_test_cflags)
%C%_test_cursor_LDADD    = $(decode_libs) $(CHECK_LIBS)
%C%_test_formats_SOURCES = %D%/test-formats.c $(page_builder)
%C%_test_formats_CFLAGS  = $(decode_test_cflags)
%C%_test_formats_LDADD   = $(decode_libs) $(CHECK_LIBS)
%C%_test_records_SOURCES = %D%/test-records.c $(page_builder)
%C%_test_records_CFLAGS  = $(decode_test_cflags)
%C%_test_records_LDADD   = $(decode_libs) $(CHECK_LIBS)
%C%_test_stream_SOURCES  = %D%/test-stream.c $(page_builder)
%C%_test_stream_CFLAGS   = $(decode_test_cflags)
%C%_test_stream_LDADD    = $(decode_libs) $(CHECK_LIBS)
%C%_test_symbols_CFLAGS  = $(decode_test_cflags)
%C%_test_symbols_LDADD   = $(decode_libs) $(CHECK_LIBS)
%C%_test_tasks_CFLAGS    = $(decode_test_cflags)
%C%_test_tasks_LDADD     = $(decode_libs) $(CHECK_LIBS)
unit_tests += %D%/test-tally
%C%_test_tally_SOURCES   = %D%/test-tally.c $(page_builder)
%C%_test_tally_CFLAGS    = $(decode_test_cflags)
%C%_test_tally_LDADD     = $(learn_libs) $(CHECK_LIBS)
