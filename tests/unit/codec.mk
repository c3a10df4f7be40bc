# unit tests of codec
codec_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
unit_tests += %D%/test-block
%C%_test_block_CFLAGS = $(codec_test_cflags)
%C%_test_block_LDADD  = $(codec_libs) $(CHECK_LIBS)
