# Benchmarks: run by hand, never by make check.
EXTRA_DIST += %D%/RESULTS %D%/bench-codec %D%/bench-crashes %D%/check-crash.py %D%/bench-fleet %D%/bench-hosts %D%/bench-many %D%/bench-open %D%/bench-overhead %D%/bench-read %D%/bench-record %D%/bench-report %D%/bench-ways %D%/bench-why %D%/bench-parquet %D%/bench-probes %D%/bench-planted %D%/planted/Kbuild %D%/planted/planted.c \
	%D%/first-answer.py %D%/make-many.py
EXTRA_DIST += %D%/bench-fidelity %D%/bench-problems %D%/make-loads %D%/make-trees %D%/tree-load.py
noinst_PROGRAMS += %D%/bench-consume %D%/codec-speed %D%/grow-session %D%/seal-session
%C%_bench_consume_SOURCES = %D%/bench-consume.c
%C%_codec_speed_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS)
%C%_codec_speed_LDADD = $(decode_libs)
%C%_seal_session_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_seal_session_LDADD = $(pages_libs)
%C%_grow_session_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_grow_session_LDADD = $(store_libs)
