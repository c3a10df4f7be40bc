# Tests that program a real kernel: never part of `make check`.
.PHONY: check-root
