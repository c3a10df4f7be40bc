# Benchmarks: run by hand, never by make check.
EXTRA_DIST += %D%/bench-record %D%/bench-report
