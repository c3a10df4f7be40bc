if HAVE_SYSTEMD_UNITDIR
systemdsystemunit_DATA += %D%/ftraced.service %D%/ftraced-restore.service
dist_systemdsystemunit_DATA += %D%/ftraced.socket
endif
CLEANFILES += %D%/ftraced.service %D%/ftraced-restore.service
EXTRA_DIST += %D%/ftraced.service.in %D%/ftraced-restore.service.in

# All of it is comments; the first of the places where it is looked for that a package may fill.
ftracedconfdir = $(prefix)/lib/ftraced
dist_ftracedconf_DATA = %D%/ftraced.conf
