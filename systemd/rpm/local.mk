# In the tarball as configure made it, since rpmbuild -ta looks there.
EXTRA_DIST += %D%/ftraced.spec
