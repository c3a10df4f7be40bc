# cli/: unprivileged; decodes and draws as the user.
include %D%/drawing.mk
bin_PROGRAMS += ftracectl
ftracectl_SOURCES = \
	%D%/main.c
ftracectl_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
ftracectl_LDADD = $(drawing_libs) $(wire_libs)
man_pages += %D%/ftracectl.1
EXTRA_DIST += %D%/completion.bash
bashcompletion_DATA += %D%/ftracectl
CLEANFILES += %D%/ftracectl
%D%/ftracectl: %D%/completion.bash
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)cp $< $@
