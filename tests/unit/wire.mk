# unit tests of wire
unit_tests += %D%/test-frame %D%/test-refusal
%C%_test_frame_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_frame_LDADD    = $(wire_libs) $(CHECK_LIBS)
%C%_test_refusal_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_refusal_LDADD  = $(wire_libs) $(CHECK_LIBS)
