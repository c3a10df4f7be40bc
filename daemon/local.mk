# daemon/: the only privileged code; moves pages, never interprets them.
# The library is for the unit tests: all but main.
noinst_LIBRARIES += %D%/libdaemon.a
%C%_libdaemon_a_CFLAGS = $(AM_CFLAGS) $(TRACEFS_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS) $(XXHASH_CFLAGS) -pthread
%C%_libdaemon_a_SOURCES = \
	%D%/address.c \
	%D%/address.h \
	%D%/admission.c \
	%D%/admission.h \
	%D%/arbiter.c \
	%D%/arbiter.h \
	%D%/clock-reader.c \
	%D%/clock-reader.h \
	%D%/clock-watch.c \
	%D%/clock-watch.h \
	%D%/controller-adopt.c \
	%D%/controller-arm.c \
	%D%/controller-dry.c \
	%D%/controller-lean.c \
	%D%/controller-private.h \
	%D%/controller.c \
	%D%/controller.h \
	%D%/daemon.c \
	%D%/daemon.h \
	%D%/fdstore.c \
	%D%/fdstore.h \
	%D%/functions.c \
	%D%/functions.h \
	%D%/guard.c \
	%D%/guard.h \
	%D%/health.c \
	%D%/health.h \
	%D%/host-check.c \
	%D%/host-check.h \
	%D%/instance.c \
	%D%/instance.h \
	%D%/janitor.c \
	%D%/janitor.h \
	%D%/kernel-symbols.c \
	%D%/kernel-symbols.h \
	%D%/symbol-watch.c \
	%D%/symbol-watch.h \
	%D%/knob.c \
	%D%/knob.h \
	%D%/lean-cache.c \
	%D%/lean-cache.h \
	%D%/lean.c \
	%D%/lean.h \
	%D%/learn-worker.c \
	%D%/learn-worker.h \
	%D%/learner.c \
	%D%/learner.h \
	%D%/ledger.c \
	%D%/ledger.h \
	%D%/lesson.c \
	%D%/lesson.h \
	%D%/listener.c \
	%D%/listener.h \
	%D%/live.c \
	%D%/live.h \
	%D%/manager.c \
	%D%/manager.h \
	%D%/lockdown.c \
	%D%/lockdown.h \
	%D%/methods-private.h \
	%D%/methods-start.c \
	%D%/methods.c \
	%D%/methods.h \
	%D%/override.c \
	%D%/override.h \
	%D%/pace.c \
	%D%/pace.h \
	%D%/pipe-marks.c \
	%D%/pipe-marks.h \
	%D%/plan.c \
	%D%/plan.h \
	%D%/privilege.c \
	%D%/privilege.h \
	%D%/reader-private.h \
	%D%/reader-resume.c \
	%D%/reader.c \
	%D%/reader.h \
	%D%/recorder.c \
	%D%/recorder.h \
	%D%/request.c \
	%D%/request.h \
	%D%/rotation.c \
	%D%/rotation.h \
	%D%/script.c \
	%D%/script.h \
	%D%/seal-worker.c \
	%D%/seal-worker.h \
	%D%/sealer.c \
	%D%/sealer.h \
	%D%/server.c \
	%D%/server.h \
	%D%/session-adopt.c \
	%D%/session-clock.c \
	%D%/session-guard.c \
	%D%/session-private.h \
	%D%/session-tasks.c \
	%D%/session-lean.c \
	%D%/session-start.c \
	%D%/session.c \
	%D%/session.h \
	%D%/sessions.c \
	%D%/sessions.h \
	%D%/starts.c \
	%D%/starts.h \
	%D%/stock.c \
	%D%/stock.h \
	%D%/tamper.c \
	%D%/tamper.h \
	%D%/touchstone.c \
	%D%/touchstone.h \
	%D%/task-filter.c \
	%D%/task-filter.h \
	%D%/task-finder.c \
	%D%/task-finder.h \
	%D%/tracefs.c \
	%D%/tracefs.h \
	%D%/tracing-copy.c \
	%D%/tracing-copy.h \
	%D%/transition.c \
	%D%/transition.h \
	%D%/weigh.c \
	%D%/weigh.h
daemon_libs = %D%/libdaemon.a $(wire_libs) $(learn_libs) $(codec_libs) $(TRACEFS_LIBS) $(SYSTEMD_LIBS) -lpthread

sbin_PROGRAMS += ftraced
ftraced_SOURCES = %D%/main.c
ftraced_CFLAGS = $(AM_CFLAGS)
ftraced_LDADD = $(daemon_libs)
man_pages += %D%/ftraced.8 %D%/ftraced.conf.5 %D%/ftraced.profile.5
