# lib/export
noinst_LIBRARIES += %D%/libexport.a
%C%_libexport_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libexport_a_SOURCES = \
	%D%/chrome.c \
	%D%/dot.c \
	%D%/escape.c \
	%D%/escape.h \
	%D%/exporter.c \
	%D%/exporter.h \
	%D%/flame-script.c \
	%D%/flame.c \
	%D%/flame.h \
	%D%/folded.c \
	%D%/heat.c \
	%D%/heat.h \
	%D%/html.c \
	%D%/intern.c \
	%D%/intern.h \
	%D%/perfetto.c \
	%D%/scripts.h \
	%D%/spans.c \
	%D%/spans.h \
	%D%/speedscope.c \
	%D%/table.c
nodist_%C%_libexport_a_SOURCES = %D%/scripts.c
script_files = %D%/heat.css %D%/heat.js
EXTRA_DIST += $(script_files)
CLEANFILES += %D%/scripts.c
# The files as C strings, named for the file with '_' for '.'.
%D%/scripts.c: $(script_files)
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN){ echo '/* SPDX-License-Identifier: LGPL-2.1-or-later */'; \
	  echo '#include "export/scripts.h"'; for f in $^; do \
	  n=`basename $$f | tr . _`; echo "const char $$n[] ="; \
	  $(SED) -e 's/[\\"]/\\&/g' -e 's/.*/        "&\\n"/' $$f; echo '        ;'; done; } >$@.tmp && mv $@.tmp $@
export_libs = %D%/libexport.a $(analyze_libs)
dist_pkgdata_DATA += %D%/calls.schema.json
