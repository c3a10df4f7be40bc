# unit tests of import, with what draws and what adds up
import_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
import_test_libs = $(import_libs) $(CHECK_LIBS)
unit_tests += %D%/test-envelope %D%/test-event-line %D%/test-foreign-text %D%/test-graph-line \
	%D%/test-indent-line %D%/test-labels %D%/test-lines \
	%D%/test-text-redraw %D%/test-text-same %D%/test-text-trace %D%/test-uftrace-line
EXTRA_DIST += %D%/text-file.h
%C%_test_envelope_CFLAGS    = $(import_test_cflags)
%C%_test_envelope_LDADD     = $(import_test_libs)
%C%_test_event_line_CFLAGS  = $(import_test_cflags)
%C%_test_event_line_LDADD   = $(import_test_libs)
%C%_test_foreign_text_CFLAGS = $(import_test_cflags)
%C%_test_foreign_text_LDADD  = $(import_test_libs)
%C%_test_graph_line_CFLAGS  = $(import_test_cflags)
%C%_test_graph_line_LDADD   = $(import_test_libs)
%C%_test_indent_line_CFLAGS = $(import_test_cflags)
%C%_test_indent_line_LDADD  = $(import_test_libs)
%C%_test_labels_CFLAGS      = $(import_test_cflags)
%C%_test_labels_LDADD       = $(import_test_libs)
%C%_test_lines_CFLAGS       = $(import_test_cflags)
%C%_test_lines_LDADD        = $(import_test_libs)
%C%_test_text_redraw_CFLAGS = $(import_test_cflags)
%C%_test_text_redraw_LDADD  = $(import_libs) $(render_libs) $(CHECK_LIBS)
%C%_test_text_same_CFLAGS   = $(import_test_cflags)
%C%_test_text_same_LDADD    = $(import_libs) $(drawing_libs) $(CHECK_LIBS)
%C%_test_text_trace_CFLAGS  = $(import_test_cflags)
%C%_test_text_trace_LDADD   = $(import_test_libs)
%C%_test_uftrace_line_CFLAGS = $(import_test_cflags)
%C%_test_uftrace_line_LDADD  = $(import_test_libs)
