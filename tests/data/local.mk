# The recordings beside this: drawn from a checkout without root, and the renderers' golden data.
# The .dat files are the same as `trace-cmd convert --file-version 7 --compression zstd` has them.
# `make recordings` makes them anew (root, virtual machines); `record` says how.
check_PROGRAMS += %D%/trim-symbols
%C%_trim_symbols_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_trim_symbols_LDADD = $(store_libs)
# Texts of other tracers, in text/: SystemTap's thread_indent(), perf-tools' funcgraph and a trace
# file of Linux 3.x with what is hard to read in them (HACKING).
EXTRA_DIST += %D%/text %D%/record %D%/sessions %D%/symbols \
	%D%/udp_sendmsg-6.1.dat %D%/udp_sendmsg-6.12.dat %D%/udp_sendmsg-new.dat \
	%D%/udp_sendmsg-6.1.trace %D%/udp_sendmsg-6.12.trace %D%/udp_sendmsg-new.trace

.PHONY: recordings
recordings: all %D%/trim-symbols tests/workload/udp-pairs
	top_builddir=$(abs_top_builddir) $(srcdir)/%D%/record
