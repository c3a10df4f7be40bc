# Part of the long suite: what is in packages.
EXTRA_DIST += %D%/test-rpm.sh
.PHONY: check-rpm
# What rpmbuild makes of the .spec has the files of the Debian packages.
check-rpm: all
	DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS:-nocheck noautodbgsym}" $(MAKE) $(AM_MAKEFLAGS) deb
	$(MAKE) $(AM_MAKEFLAGS) dist
	top_builddir='$(abs_top_builddir)' top_srcdir='$(abs_top_srcdir)' bash $(srcdir)/%D%/test-rpm.sh
