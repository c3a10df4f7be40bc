# unit tests of wire, and of both ends of it
unit_tests += %D%/test-client %D%/test-frame %D%/test-interface %D%/test-refusal %D%/test-server
%C%_test_frame_CFLAGS     = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_frame_LDADD      = $(wire_libs) $(CHECK_LIBS)
%C%_test_interface_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_interface_LDADD  = $(wire_libs) $(CHECK_LIBS)
%C%_test_refusal_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_refusal_LDADD    = $(wire_libs) $(CHECK_LIBS)
%C%_test_client_SOURCES   = %D%/test-client.c cli/client.c
%C%_test_client_CFLAGS    = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_client_LDADD     = $(wire_libs) $(CHECK_LIBS)
%C%_test_server_SOURCES   = %D%/test-server.c cli/client.c \
	daemon/listener.c daemon/request.c daemon/server.c
%C%_test_server_CFLAGS    = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_test_server_LDADD     = $(wire_libs) $(CHECK_LIBS) $(SYSTEMD_LIBS)
