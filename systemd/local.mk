if HAVE_SYSTEMD_UNITDIR
systemdsystemunit_DATA += %D%/ftraced.service %D%/ftraced-restore.service
systemdsystemunit_DATA += %D%/ftraced-capture@.service %D%/ftraced-rescue.service
dist_systemdsystemunit_DATA += %D%/ftraced-capture@.timer
dist_systemdsystemunit_DATA += %D%/ftraced.socket %D%/ftraced-ship.timer
systemdsystemunit_DATA += %D%/ftraced-ship.service %D%/ftraced-maps@.service
dist_systemdsystemunit_DATA += %D%/ftraced-maps.socket %D%/ftraced-stacks.socket
systemdsystemunit_DATA += %D%/ftraced-stacks@.service
endif
CLEANFILES += %D%/ftraced-maps@.service %D%/ftraced-stacks@.service
EXTRA_DIST += %D%/ftraced-maps@.service.in %D%/ftraced-stacks@.service.in
CLEANFILES += %D%/ftraced-capture@.service %D%/ftraced-rescue.service %D%/ftraced-ship.service
EXTRA_DIST += %D%/ftraced-capture@.service.in %D%/ftraced-rescue.service.in %D%/ftraced-ship.service.in
CLEANFILES += %D%/ftraced.service %D%/ftraced-restore.service
EXTRA_DIST += %D%/ftraced.service.in %D%/ftraced-restore.service.in

# Files that systemd's programs look for below the prefix; all are named after the package there.
sysusersdir = $(prefix)/lib/sysusers.d
tmpfilesdir = $(prefix)/lib/tmpfiles.d
catalogdir = $(prefix)/lib/systemd/catalog
dist_catalog_DATA = %D%/ftraced.catalog
nodist_sysusers_DATA = %D%/sysusers.d/ftraced.conf
nodist_tmpfiles_DATA = %D%/tmpfiles.d/ftraced.conf
CLEANFILES += $(nodist_sysusers_DATA) $(nodist_tmpfiles_DATA)
EXTRA_DIST += %D%/sysusers.conf %D%/tmpfiles.conf
$(nodist_sysusers_DATA): %D%/sysusers.conf
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $< $@
$(nodist_tmpfiles_DATA): %D%/tmpfiles.conf
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cp $< $@

# All of it is comments; the first of the places where it is looked for that a package may fill.
ftracedconfdir = $(prefix)/lib/ftraced
dist_ftracedconf_DATA = %D%/ftraced.conf

# What sends recordings to a server.
shipdir = $(prefix)/lib/ftraced
dist_ship_SCRIPTS = %D%/ftraced-ship
AM_INSTALLCHECK_STD_OPTIONS_EXEMPT = %D%/ftraced-ship

# Recordings to begin with, for the same reason in the same place.
ftracedprofilesdir = $(prefix)/lib/ftraced/profiles.d
dist_ftracedprofiles_DATA = %D%/profiles.d/tcp-send.conf %D%/profiles.d/udp-send.conf %D%/profiles.d/vfs-read.conf

# The group that the socket is for, and the words of the journal, where this is the system itself.
install-data-hook: introduce-to-systemd
introduce-to-systemd:
	case '$(DESTDIR)$(prefix)' in /usr|/usr/local) ;; *) exit 0 ;; esac; test "$$(id -u)" = 0 || exit 0; \
	! command -v systemd-sysusers >/dev/null || systemd-sysusers $(sysusersdir)/ftraced.conf; \
	! test -d /run/systemd/system || ! command -v systemd-tmpfiles >/dev/null || \
		systemd-tmpfiles --create $(tmpfilesdir)/ftraced.conf; \
	! test -d /run/systemd/system || ! command -v journalctl >/dev/null || journalctl --update-catalog
.PHONY: introduce-to-systemd
