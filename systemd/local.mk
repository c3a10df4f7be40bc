if HAVE_SYSTEMD_UNITDIR
systemdsystemunit_DATA += %D%/ftraced.service
dist_systemdsystemunit_DATA += %D%/ftraced.socket
endif
CLEANFILES += %D%/ftraced.service
EXTRA_DIST += %D%/ftraced.service.in
