# Programs whose calls are known in advance, for tests to record.
noinst_PROGRAMS += %D%/udp-pairs
%C%_udp_pairs_SOURCES = %D%/udp-pairs.c
# What README's lines tell of its stacks is the same of every build.
%C%_udp_pairs_CFLAGS = $(AM_CFLAGS) -fno-omit-frame-pointer

noinst_PROGRAMS += %D%/markers
%C%_markers_SOURCES = %D%/markers.c

noinst_PROGRAMS += %D%/bystander
%C%_bystander_SOURCES = %D%/bystander.c

noinst_PROGRAMS += %D%/udp-errors
%C%_udp_errors_SOURCES = %D%/udp-errors.c
noinst_PROGRAMS += %D%/chain
%C%_chain_SOURCES = %D%/chain.c
noinst_PROGRAMS += %D%/requests
%C%_requests_SOURCES = %D%/requests.c

noinst_PROGRAMS += %D%/numbered
%C%_numbered_SOURCES = %D%/numbered.c
noinst_PROGRAMS += %D%/stacked %D%/unstacked
%C%_stacked_SOURCES = %D%/stacked.c
%C%_stacked_CFLAGS = $(AM_CFLAGS) $(stacked_cflags) -fno-omit-frame-pointer -DHAS_FRAMES
# The same without frame pointers.
%C%_unstacked_SOURCES = %D%/stacked.c
%C%_unstacked_CFLAGS = $(AM_CFLAGS) $(stacked_cflags) -fomit-frame-pointer
noinst_PROGRAMS += %D%/jitted
%C%_jitted_SOURCES = %D%/jitted.c
%C%_jitted_CFLAGS = $(AM_CFLAGS) $(stacked_cflags) -fno-omit-frame-pointer
stacked_cflags = -O1 -fno-optimize-sibling-calls
