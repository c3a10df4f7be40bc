# unit tests of wire, and of both ends of it
unit_tests += %D%/test-client %D%/test-frame %D%/test-interface %D%/test-refusal \
	%D%/test-server %D%/test-server-hostile
%C%_test_frame_CFLAGS     = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_frame_LDADD      = $(wire_libs) $(CHECK_LIBS)
%C%_test_interface_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_interface_LDADD  = $(wire_libs) $(CHECK_LIBS)
%C%_test_refusal_CFLAGS   = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_refusal_LDADD    = $(wire_libs) $(CHECK_LIBS)
%C%_test_client_SOURCES   = %D%/test-client.c cli/contact/client.c
%C%_test_client_CFLAGS    = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
%C%_test_client_LDADD     = $(wire_libs) $(CHECK_LIBS)
server_test_sources = %D%/server-fixture.c %D%/server-fixture.h cli/contact/client.c \
	daemon/server/connection.c daemon/server/introspection.c daemon/server/listener.c daemon/server/peer.c daemon/server/quota.c \
	daemon/server/request.c daemon/server/server.c
%C%_test_server_SOURCES   = %D%/test-server.c $(server_test_sources)
%C%_test_server_CFLAGS    = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_test_server_LDADD     = $(wire_libs) $(CHECK_LIBS) $(SYSTEMD_LIBS)
%C%_test_server_hostile_SOURCES = %D%/test-server-hostile.c $(server_test_sources)
%C%_test_server_hostile_CFLAGS  = $(%C%_test_server_CFLAGS)
%C%_test_server_hostile_LDADD   = $(%C%_test_server_LDADD)
