# daemon/: the only privileged code; moves pages, never interprets them.
# The library is for the unit tests: all but main.
noinst_LIBRARIES += %D%/libdaemon.a
BUILT_SOURCES += %D%/lean/waiting-functions.inc %D%/lean/trees.inc %D%/lean/loads.inc
CLEANFILES += %D%/lean/waiting-functions.inc %D%/lean/trees.inc %D%/lean/loads.inc
EXTRA_DIST += %D%/lean/waiting-functions %D%/lean/trees %D%/lean/loads
%D%/lean/waiting-functions.inc: %D%/lean/waiting-functions %D%/local.mk
	$(AM_V_GEN)mkdir -p %D%/lean && $(AWK) '/^=/ { kind = "WAITING_" ($$2 == "interrupt" ? "INTERRUPT" : $$2 == "scheduler" ? "SCHEDULER" : "OTHER") } \
		/^[a-z_]/ { n = index($$1, "*"); sub(/\*/, "", $$1); \
			print "{ \"" $$1 "\", " (n ? n - 1 : 0) ", " kind " }," }' $< >$@
%D%/lean/trees.inc %D%/lean/loads.inc: %D%/lean/trees %D%/lean/loads %D%/local.mk
	$(AM_V_GEN)mkdir -p %D%/lean && sed '/^#/d; s/.*/"&\\n"/' $(srcdir)/$(@:.inc=) >$@
# What is made alone, as a fuzz target is, has no BUILT_SOURCES.
%D%/lean/libdaemon_a-thinning.$(OBJEXT): %D%/lean/waiting-functions.inc %D%/lean/loads.inc
%D%/lean/libdaemon_a-lean-tree.$(OBJEXT): %D%/lean/trees.inc
%C%_libdaemon_a_CFLAGS = $(AM_CFLAGS) $(TRACEFS_CFLAGS) $(SYSTEMD_CFLAGS) $(JANSSON_CFLAGS) $(XXHASH_CFLAGS) $(SECCOMP_CFLAGS) -pthread
%C%_libdaemon_a_SOURCES = \
	%D%/admission/admission.c \
	%D%/admission/admission.h \
	%D%/api/allowance.c \
	%D%/api/api.h \
	%D%/admission/arbiter.c \
	%D%/process/background.c \
	%D%/process/background.h \
	%D%/instances/black-box.c \
	%D%/watch/bystander-watch.c \
	%D%/lean/call-sample.c \
	%D%/admission/capability.c \
	%D%/server/connection.c \
	%D%/tracefs/control.c \
	%D%/tracefs/control.h \
	%D%/tracer/controller-admit.c \
	%D%/tracer/controller-adopt.c \
	%D%/tracer/controller-arm.c \
	%D%/tracer/controller-dry.c \
	%D%/tracer/controller-filter.c \
	%D%/tracer/controller-hooks.c \
	%D%/tracer/controller-private.h \
	%D%/tracer/controller-trigger.c \
	%D%/tracer/controller.c \
	%D%/tracer/controller.h \
	%D%/daemon.c \
	%D%/daemon.h \
	%D%/upkeep/disk-usage.c \
	%D%/instances/event-set.c \
	%D%/process/fdstore.c \
	%D%/process/fdstore.h \
	%D%/admission/functions-expand.c \
	%D%/admission/functions.c \
	%D%/watch/guard.c \
	%D%/watch/health.c \
	%D%/tracer/host-check.c \
	%D%/watch/host-load.c \
	%D%/instances/instance.c \
	%D%/instances/instance.h \
	%D%/api/janitor.c \
	%D%/process/journal.c \
	%D%/process/journal.h \
	%D%/symbols/kernel-symbols.c \
	%D%/symbols/kernel-symbols.h \
	%D%/lean/lean-tree.c \
	%D%/lean/lean.c \
	%D%/lean/lean.h \
	%D%/lean/learn-worker.c \
	%D%/lean/learner.c \
	%D%/watch/learning-pass.c \
	%D%/tracefs/ledger-file.c \
	%D%/tracefs/ledger-undo.c \
	%D%/tracefs/ledger.c \
	%D%/tracefs/ledger.h \
	%D%/tracer/leftovers.c \
	%D%/server/listener.c \
	%D%/api/listing.c \
	%D%/watch/live.c \
	%D%/admission/caller.c \
	%D%/api/methods-access.c \
	%D%/api/methods-background.c \
	%D%/api/methods-start.c \
	%D%/api/methods.c \
	%D%/instances/notifier.c \
	%D%/admission/override.c \
	%D%/watch/maps-look.c \
	%D%/watch/owner-look.c \
	%D%/own-store.c \
	%D%/server/peer.c \
	%D%/tracefs/plan.c \
	%D%/tracefs/plan.h \
	%D%/tracefs/put-back.c \
	%D%/instances/quiesce.c \
	%D%/server/quota.c \
	%D%/record/reader-resume.c \
	%D%/record/reader.c \
	%D%/record/reader.h \
	%D%/record/recorder.c \
	%D%/record/recorder.h \
	%D%/upkeep/removal.c \
	%D%/session/rescue-pages.c \
	%D%/session/rescue.c \
	%D%/record/rotation.c \
	%D%/process/sandbox.c \
	%D%/process/sandbox.h \
	%D%/tracefs/script.c \
	%D%/upkeep/seal-worker.c \
	%D%/upkeep/sealer.c \
	%D%/server/server-private.h \
	%D%/server/server.c \
	%D%/server/server.h \
	%D%/session/session-adopt.c \
	%D%/session/session-hold.c \
	%D%/session/session-hooks.c \
	%D%/session/session-lean.c \
	%D%/session/session-listen.c \
	%D%/session/session-live.c \
	%D%/session/session-private.h \
	%D%/session/session-run.c \
	%D%/session/session-snapshot.c \
	%D%/session/session-start.c \
	%D%/session/session-state.c \
	%D%/session/session-sync.c \
	%D%/session/session-trigger.c \
	%D%/session/session-stacks.c \
	%D%/session/session-watch.c \
	%D%/session/session.c \
	%D%/session/session.h \
	%D%/api/sessions-start.c \
	%D%/api/sessions.c \
	%D%/settings.c \
	%D%/watch/snapshot.c \
	%D%/process/spawn.c \
	%D%/process/spawn.h \
	%D%/record/stack-copier.c \
	%D%/record/stack-copier.h \
	%D%/watch/stack-opener.c \
	%D%/record/syncer.c \
	%D%/watch/tamper.c \
	%D%/watch/tamper.h \
	%D%/instances/task-filter.c \
	%D%/admission/task-finder.c \
	%D%/lean/thinning.c \
	%D%/process/thread.c \
	%D%/process/thread.h \
	%D%/tracefs/tracefs.c \
	%D%/tracefs/tracefs.h \
	%D%/tracer/tracer.c \
	%D%/watch/tracing-copy.c \
	%D%/upkeep/upkeep.h \
	%D%/watch/watch.h \
	%D%/instances/value-fields.c \
	%D%/instances/value-probe.c
daemon_libs = %D%/libdaemon.a $(wire_libs) $(types_libs) $(owner_libs) $(programs_libs) $(learn_libs) $(retention_libs) $(pages_libs) $(TRACEFS_LIBS) $(SYSTEMD_LIBS) $(SECCOMP_LIBS) -lpthread

sbin_PROGRAMS += ftraced
ftraced_SOURCES = %D%/main.c
ftraced_CFLAGS = $(AM_CFLAGS)
ftraced_LDADD = $(daemon_libs)
man_pages += %D%/ftraced.8 %D%/ftraced.conf.5 %D%/ftraced.profile.5
