# `make deb`: packages of Debian, in deb/ of the build directory, from what `make dist` would publish.
# Where configure was given a --host they are that machine's, whose tests cannot run here.
debian_files = \
	%D%/changelog.in \
	%D%/control \
	%D%/copyright \
	%D%/ftraced.install \
	%D%/ftraced.postinst \
	%D%/ftraced.postrm \
	%D%/ftraced.prerm \
	%D%/ftracectl.install \
	%D%/libftraced-dev.install \
	%D%/libftraced1.install \
	%D%/libftraced1.symbols \
	%D%/rules \
	%D%/source/format
EXTRA_DIST += $(debian_files)

.PHONY: deb
deb: distdir
	rm -rf deb && mkdir deb && mv $(distdir) deb/$(distdir)
	cp -R $(srcdir)/%D% deb/$(distdir)/debian && chmod -R u+w deb/$(distdir)/debian && chmod +x deb/$(distdir)/debian/rules
	$(SED) -e 's|@VERSION[@]|$(VERSION)|' -e "s|@DATE[@]|$$(LC_ALL=C date -R)|" \
		$(srcdir)/%D%/changelog.in >deb/$(distdir)/debian/changelog
	rm -f deb/$(distdir)/debian/changelog.in deb/$(distdir)/debian/local.mk
	cd deb/$(distdir) && \
		$(if $(host_alias),DEB_BUILD_PROFILES='cross nocheck' DEB_BUILD_OPTIONS="nocheck $$DEB_BUILD_OPTIONS") \
		dpkg-buildpackage -b -us -uc $(if $(host_alias),-t$(host_alias)) $(DEB_FLAGS)
	ls -l deb/*.deb
