# Benchmarks: run by hand, never by make check.
EXTRA_DIST += %D%/bench-codec %D%/bench-record %D%/bench-report
check_PROGRAMS += %D%/codec-speed
%C%_codec_speed_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS)
%C%_codec_speed_LDADD = $(decode_libs) $(codec_libs)
