# daemon/: the only privileged code; moves pages, never interprets them.
sbin_PROGRAMS += ftraced
ftraced_SOURCES = \
	%D%/main.c
ftraced_CFLAGS = $(AM_CFLAGS) $(TRACEFS_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS) -pthread
ftraced_LDADD = $(wire_libs) $(store_libs) $(TRACEFS_LIBS) $(SYSTEMD_LIBS) -lpthread
man_pages += %D%/ftraced.8
