# unit tests of render
render_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
unit_tests += %D%/test-kernel %D%/test-renderer
%C%_test_kernel_CFLAGS   = $(render_test_cflags)
%C%_test_kernel_LDADD    = $(render_libs) $(CHECK_LIBS)
%C%_test_renderer_CFLAGS = $(render_test_cflags)
%C%_test_renderer_LDADD  = $(render_libs) $(CHECK_LIBS)
