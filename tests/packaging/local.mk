# Part of the long suite: what a machine with nothing on it needs, and what its packages are.
EXTRA_DIST += %D%/system.sh %D%/test-bare.sh %D%/test-foreign.sh %D%/test-rpm.sh
.PHONY: check-bare check-foreign check-rpm
# README's two commands on a Debian that debootstrap has just made (needs root).
check-bare: all
	$(MAKE) $(AM_MAKEFLAGS) dist
	top_builddir='$(abs_top_builddir)' top_srcdir='$(abs_top_srcdir)' bash $(srcdir)/%D%/test-bare.sh

# What is built for another architecture reads what this one reads (needs root).
check-foreign: all
	$(MAKE) $(AM_MAKEFLAGS) dist
	top_builddir='$(abs_top_builddir)' top_srcdir='$(abs_top_srcdir)' bash $(srcdir)/%D%/test-foreign.sh

# What rpmbuild makes of the .spec has the files of the Debian packages.
check-rpm: all
	DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS:-nocheck noautodbgsym}" $(MAKE) $(AM_MAKEFLAGS) deb
	$(MAKE) $(AM_MAKEFLAGS) dist
	top_builddir='$(abs_top_builddir)' top_srcdir='$(abs_top_srcdir)' bash $(srcdir)/%D%/test-rpm.sh
