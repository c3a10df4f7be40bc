# SPDX-License-Identifier: GPL-2.0-or-later
# STORE: opens, and maps, all that can be opened below it and whatever comes, and keeps it, as a member
# who wants the disk full.  For each line of stdin it tells of files and bytes that have no name any more.
import mmap, os, resource, select, stat, sys, time

store = sys.argv[1]
limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
held, maps = {}, []


def look(directory):
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names:
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
        except OSError:
            continue
        st = os.fstat(fd)
        key = (st.st_dev, st.st_ino, st.st_ctime_ns if stat.S_ISDIR(st.st_mode) else 0)
        if stat.S_ISDIR(st.st_mode):
            look(fd)
        if key in held and os.fstat(held[key]).st_nlink > 0:
            os.close(fd)
            continue
        held[key] = fd
        if stat.S_ISREG(st.st_mode) and st.st_size > 0 and len(maps) < 20000:
            try:
                maps.append(mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ))
            except (OSError, ValueError):
                pass


def tell():
    n = n_bytes = 0
    last = "-"
    for fd in held.values():
        st = os.fstat(fd)
        if stat.S_ISREG(st.st_mode) and st.st_nlink == 0:
            n += 1
            n_bytes += st.st_blocks * 512
            if st.st_blocks > 0:
                last = os.readlink("/proc/self/fd/%d" % fd)
    print(n, n_bytes, last, flush=True)


top = os.open(store, os.O_RDONLY)
while True:
    look(top)
    if select.select([0], [], [], 0.02)[0]:
        if not sys.stdin.readline():
            break
        tell()
