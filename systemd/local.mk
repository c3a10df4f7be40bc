if HAVE_SYSTEMD_UNITDIR
systemdsystemunit_DATA += %D%/ftraced.service %D%/ftraced-restore.service
systemdsystemunit_DATA += %D%/ftraced-capture@.service
dist_systemdsystemunit_DATA += %D%/ftraced-capture@.timer
dist_systemdsystemunit_DATA += %D%/ftraced.socket
endif
CLEANFILES += %D%/ftraced-capture@.service
EXTRA_DIST += %D%/ftraced-capture@.service.in
CLEANFILES += %D%/ftraced.service %D%/ftraced-restore.service
EXTRA_DIST += %D%/ftraced.service.in %D%/ftraced-restore.service.in

# All of it is comments; the first of the places where it is looked for that a package may fill.
ftracedconfdir = $(prefix)/lib/ftraced
dist_ftracedconf_DATA = %D%/ftraced.conf

# Recordings to begin with, for the same reason in the same place.
ftracedprofilesdir = $(prefix)/lib/ftraced/profiles.d
dist_ftracedprofiles_DATA = %D%/profiles.d/tcp-send.conf %D%/profiles.d/udp-send.conf %D%/profiles.d/vfs-read.conf
