# unit tests of export
export_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS)
unit_tests += %D%/test-escape %D%/test-spans %D%/test-exporter
%C%_test_escape_CFLAGS   = $(export_test_cflags)
%C%_test_escape_LDADD    = $(export_libs) $(CHECK_LIBS)
%C%_test_spans_CFLAGS    = $(export_test_cflags)
%C%_test_spans_LDADD     = $(export_libs) $(CHECK_LIBS)
%C%_test_exporter_CFLAGS = $(export_test_cflags) $(JANSSON_CFLAGS)
%C%_test_exporter_LDADD  = $(export_libs) $(CHECK_LIBS)
unit_tests += %D%/test-parquet-encode %D%/test-parquet-texts %D%/test-spill
%C%_test_parquet_encode_CFLAGS = $(export_test_cflags)
%C%_test_parquet_encode_LDADD  = $(export_libs) $(CHECK_LIBS)
%C%_test_parquet_texts_CFLAGS = $(export_test_cflags)
%C%_test_parquet_texts_LDADD  = $(export_libs) $(CHECK_LIBS)
%C%_test_spill_CFLAGS = $(export_test_cflags)
%C%_test_spill_LDADD  = $(export_libs) $(CHECK_LIBS)
