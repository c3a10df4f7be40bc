# lib/wire
noinst_LIBRARIES += %D%/libwire.a
%C%_libwire_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS) $(SYSTEMD_CFLAGS)
%C%_libwire_a_SOURCES = \
	%D%/frame.c \
	%D%/frame.h \
	%D%/interface.h \
	%D%/manager-bus.c \
	%D%/manager-bus.h \
	%D%/refusal.c \
	%D%/refusal.h
nodist_%C%_libwire_a_SOURCES = %D%/interface.c
wire_libs = %D%/libwire.a $(base_libs) $(JANSSON_LIBS)

interface_files = %D%/org.ftraced.varlink %D%/org.varlink.service.varlink
EXTRA_DIST += $(interface_files)
CLEANFILES += %D%/interface.c
# The interface files as C strings, named for the file with '_' for '.'.
%D%/interface.c: $(interface_files)
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN){ echo '/* SPDX-License-Identifier: LGPL-2.1-or-later */'; \
	  echo '#include "wire/interface.h"'; for f in $^; do \
	  n=`basename $$f .varlink | tr . _`; echo "const char interface_$$n[] ="; \
	  $(SED) -e 's/[\\"]/\\&/g' -e 's/.*/        "&\\n"/' $$f; echo '        ;'; done; } >$@.tmp && mv $@.tmp $@

# The page is the interface with an introduction.
EXTRA_DIST += %D%/org.ftraced.7.scd.in
if HAVE_SCDOC
man_MANS += %D%/org.ftraced.7
CLEANFILES += %D%/org.ftraced.7
%D%/org.ftraced.7: %D%/org.ftraced.7.scd.in %D%/org.ftraced.varlink
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(AWK) 'NR == FNR { text = text $$0 "\n"; next } $$0 == "@CONTENT@" { $$0 = "```\n" text "```" } 1' \
		$(srcdir)/%D%/org.ftraced.varlink $< | $(SCDOC) >$@.tmp && mv $@.tmp $@
endif
