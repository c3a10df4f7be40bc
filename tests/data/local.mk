# The recordings beside this: drawn from a checkout without root, and the renderers' golden data.
# The .dat files are the same as `trace-cmd convert --file-version 7 --compression zstd` has them.
# `make recordings` makes them anew (root, virtual machines); `record` says how.
check_PROGRAMS += %D%/trim-symbols
%C%_trim_symbols_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_trim_symbols_LDADD = $(store_libs)
# udp-pairs-* have enough calls to compare them, and their waits; requests-6.12 has markers with a traceparent.
# In numbers/ what is hard to count: interrupts in the hooks of a call, ends without a beginning,
# durations that are rounded.
# Texts of other tracers, in text/: SystemTap's thread_indent(), perf-tools' funcgraph and a trace
# file of Linux 3.x with what is hard to read in them (HACKING).
# What trace-cmd 3.1.6 recorded on Debian's 6.12, and reported of it, in tracecmd/: made small by trim-dat.py.
# What a newcomer as root, a member of the group and a stranger are told (root/test-readme.sh), in readme/.
# Lines of the source for udp_sendmsg-6.12, made with Debian's linux-image-6.12.117+deb12-amd64-dbg by
# `ftracectl lines --store=tests/data udp_sendmsg-6.12 --vmlinux=.../vmlinux-6.12.117+deb12-amd64 -o udp_sendmsg-6.12.lines`.
EXTRA_DIST += %D%/udp_sendmsg-6.12.lines
EXTRA_DIST += %D%/text %D%/numbers %D%/tracecmd %D%/readme %D%/trim-dat.py %D%/record %D%/sessions %D%/symbols \
	%D%/udp_sendmsg-5.10.dat %D%/udp_sendmsg-5.10.trace \
	%D%/udp_sendmsg-6.1.dat %D%/udp_sendmsg-6.12.dat %D%/udp_sendmsg-new.dat \
	%D%/udp_sendmsg-arm64-16k-6.12.dat %D%/udp_sendmsg-arm64-16k-6.12.trace \
	%D%/udp_sendmsg-6.1.trace %D%/udp_sendmsg-6.12.trace %D%/udp_sendmsg-new.trace

.PHONY: recordings
recordings: all %D%/trim-symbols tests/workload/udp-pairs tests/workload/requests
	top_builddir=$(abs_top_builddir) $(srcdir)/%D%/record
