# lib/export
noinst_LIBRARIES += %D%/libexport.a
%C%_libexport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libexport_a_SOURCES = \
	%D%/exporter.c \
	%D%/exporter.h \
	%D%/flame.c \
	%D%/folded.c \
	%D%/heat.c \
	%D%/html-tree.c \
	%D%/html.c \
	%D%/parquet-beside.c \
	%D%/parquet-calls.c \
	%D%/parquet-parts.c \
	%D%/parquet-rows.h \
	%D%/perfetto.c \
	%D%/pprof.c \
	%D%/table.c
nodist_%C%_libexport_a_SOURCES = %D%/scripts.c
script_files = %D%/flame.css %D%/flame.js %D%/heat.css %D%/heat.js \
	%D%/page.css %D%/page.js %D%/theme.css
EXTRA_DIST += $(script_files)
CLEANFILES += %D%/scripts.c
# The files as C strings, named for the file with '_' for '.'.
%D%/scripts.c: $(script_files)
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN){ echo '/* SPDX-License-Identifier: LGPL-2.1-or-later */'; \
	  echo '#include "export/exporter.h"'; for f in $^; do \
	  n=`basename $$f | tr . _`; echo "const char $$n[] ="; \
	  $(SED) -e 's/[\\"]/\\&/g' -e 's/.*/        "&\\n"/' $$f; echo '        ;'; done; \
	  echo "const char page_sha256[] = \"`cat $(filter %/flame.js,$^) $(filter %/heat.js,$^) $(filter %/page.js,$^) | \
		sha256sum | $(AWK) -v b=ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/ '{ \
			h = substr($$1, 1, 64) "00"; \
			for (i = 1; i < 66; i += 6) { \
				for (n = k = 0; k < 6; k++) n = n * 16 + index("0123456789abcdef", substr(h, i + k, 1)) - 1; \
				for (k = 262144; k >= 1; k /= 64) s = s substr(b, int(n / k) % 64 + 1, 1) } \
			print substr(s, 1, 43) "=" }'`\";"; } >$@.tmp && mv $@.tmp $@
export_libs = %D%/libexport.a $(causes_libs) $(encode_libs)
dist_pkgdata_DATA += %D%/calls.schema.json %D%/calls.sql
