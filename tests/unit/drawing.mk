# unit tests of what reads recordings in cli
drawing_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
unit_tests += %D%/test-drawing %D%/test-tracedat %D%/test-verify
%C%_test_drawing_SOURCES  = %D%/test-drawing.c $(page_builder)
%C%_test_drawing_CFLAGS   = $(drawing_test_cflags)
%C%_test_drawing_LDADD    = $(drawing_libs) $(CHECK_LIBS)
%C%_test_tracedat_SOURCES = %D%/test-tracedat.c $(page_builder)
%C%_test_tracedat_CFLAGS  = $(drawing_test_cflags)
%C%_test_tracedat_LDADD   = $(drawing_libs) $(CHECK_LIBS)
%C%_test_verify_SOURCES   = %D%/test-verify.c $(page_builder)
%C%_test_verify_CFLAGS    = $(drawing_test_cflags)
%C%_test_verify_LDADD     = $(drawing_libs) $(CHECK_LIBS)
unit_tests += %D%/test-filtering
%C%_test_filtering_CFLAGS = $(drawing_test_cflags)
%C%_test_filtering_LDADD  = $(drawing_libs) $(CHECK_LIBS)
