# lib/public: what other programs link with.  No libtool: one library, one linker.
noinst_LIBRARIES += %D%/libpublic.a
%C%_libpublic_a_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
%C%_libpublic_a_SOURCES = \
	%D%/ftraced.c \
	%D%/ftraced.h

libftraced_so = %D%/libftraced.so.1.0.0
libftraced_libs = $(import_libs) $(wire_libs)
sharedlibdir = $(libdir)
sharedlib_DATA = $(libftraced_so)
include_HEADERS = %D%/ftraced.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = %D%/libftraced.pc
EXTRA_DIST += %D%/libftraced.map %D%/libftraced.pc.in
CLEANFILES += $(libftraced_so) %D%/libftraced.pc %D%/libftraced.so %D%/libftraced.so.1

# Sanitizers' functions come with the program.
comma = ,
$(libftraced_so): %D%/libpublic.a %D%/libftraced.map lib/import/libimport.a lib/calls/libcalls.a \
		lib/decode/libdecode.a lib/codec/libcodec.a lib/store/libstore.a lib/meta/libmeta.a lib/wire/libwire.a lib/base/libbase.a
	$(AM_V_CCLD)$(CC) -shared $(CFLAGS) $(AM_LDFLAGS) $(LDFLAGS) -Wl,-soname,libftraced.so.1 $(if $(findstring -fsanitize,$(CC) $(AM_LDFLAGS)),,-Wl$(comma)-z$(comma)defs) \
		-Wl,--version-script=$(srcdir)/%D%/libftraced.map -o $@ \
		-Wl,--whole-archive %D%/libpublic.a -Wl,--no-whole-archive $(libftraced_libs) $(LIBS)
	$(AM_V_at)ln -sf libftraced.so.1.0.0 %D%/libftraced.so.1 && ln -sf libftraced.so.1 %D%/libftraced.so

%D%/libftraced.pc: %D%/libftraced.pc.in Makefile
	$(AM_V_at)$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SED) -e 's|@prefix[@]|$(prefix)|g' -e 's|@exec_prefix[@]|$(exec_prefix)|g' -e 's|@libdir[@]|$(libdir)|g' \
		-e 's|@includedir[@]|$(includedir)|g' -e 's|@url[@]|$(PACKAGE_URL)|g' -e 's|@VERSION[@]|$(VERSION)|g' \
		$(srcdir)/%D%/libftraced.pc.in >$@.tmp && mv $@.tmp $@

install-data-hook:
	cd '$(DESTDIR)$(libdir)' && chmod 644 libftraced.so.1.0.0 && ln -sf libftraced.so.1.0.0 libftraced.so.1 && \
		ln -sf libftraced.so.1 libftraced.so
uninstall-hook:
	rm -f '$(DESTDIR)$(libdir)/libftraced.so.1' '$(DESTDIR)$(libdir)/libftraced.so'

# What was installed, as another program finds it.
installcheck-local:
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' CC='$(CC)' LIBFTRACED_PATH='$(DESTDIR)$(libdir)' \
		LIBFTRACED_FLAGS="$$(PKG_CONFIG_PATH='$(DESTDIR)$(libdir)/pkgconfig' PKG_CONFIG_SYSROOT_DIR='$(DESTDIR)' \
			$(PKG_CONFIG) --cflags --libs libftraced)" \
		bash $(srcdir)/tests/system/test-library.sh
