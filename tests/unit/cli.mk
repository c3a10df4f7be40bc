# unit tests of cli
include %D%/drawing.mk
cli_test_cflags = $(AM_CFLAGS) $(CHECK_CFLAGS) $(JANSSON_CFLAGS)
cli_test_libs   = $(verb_libs) $(CHECK_LIBS)
unit_tests += %D%/test-command %D%/test-options %D%/test-outfile %D%/test-recording %D%/test-rules %D%/test-selection \
	%D%/test-source %D%/test-summary %D%/test-table
%C%_test_command_CFLAGS = $(cli_test_cflags)
%C%_test_command_LDADD  = $(cli_test_libs)
%C%_test_options_CFLAGS = $(cli_test_cflags)
%C%_test_options_LDADD  = $(cli_test_libs)
%C%_test_outfile_CFLAGS = $(cli_test_cflags)
%C%_test_outfile_LDADD  = $(cli_test_libs)
%C%_test_recording_CFLAGS = $(cli_test_cflags)
%C%_test_recording_LDADD  = $(cli_test_libs)
%C%_test_rules_CFLAGS     = $(cli_test_cflags)
%C%_test_rules_LDADD      = $(cli_test_libs)
%C%_test_selection_CFLAGS = $(cli_test_cflags)
%C%_test_selection_LDADD  = $(cli_test_libs)
%C%_test_source_CFLAGS  = $(cli_test_cflags)
%C%_test_source_LDADD   = $(cli_test_libs)
%C%_test_summary_CFLAGS = $(cli_test_cflags)
%C%_test_summary_LDADD  = $(cli_test_libs)
%C%_test_table_CFLAGS   = $(cli_test_cflags)
%C%_test_table_LDADD    = $(cli_test_libs)

dist_check_SCRIPTS += %D%/test-completion.sh
TESTS += %D%/test-completion.sh

unit_tests += %D%/test-schedule
%C%_test_schedule_CFLAGS = $(cli_test_cflags)
%C%_test_schedule_LDADD  = $(cli_test_libs)
unit_tests += %D%/test-remote %D%/test-gateway
%C%_test_gateway_CFLAGS = $(cli_test_cflags)
%C%_test_gateway_LDADD  = $(cli_test_libs)
%C%_test_remote_CFLAGS = $(cli_test_cflags)
%C%_test_remote_LDADD  = $(cli_test_libs)
unit_tests += %D%/test-progress
%C%_test_progress_CFLAGS = $(cli_test_cflags)
%C%_test_progress_LDADD  = $(cli_test_libs)
unit_tests += %D%/test-windows
%C%_test_windows_CFLAGS = $(cli_test_cflags)
%C%_test_windows_LDADD  = $(verb_libs) $(export_libs) $(CHECK_LIBS) -lm
unit_tests += %D%/test-remote-output
%C%_test_remote_output_CFLAGS = $(cli_test_cflags)
%C%_test_remote_output_LDADD  = $(cli_test_libs)
unit_tests += %D%/test-where
%C%_test_where_CFLAGS = $(cli_test_cflags)
%C%_test_where_LDADD  = $(cli_test_libs)
