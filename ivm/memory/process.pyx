"""Memory of this process: the bytes that it has, and those that it may have."""

import os
from contextlib import suppress
from pathlib import Path

from libc.stdio cimport FILE, fclose, fopen, fscanf

cdef size_t PAGE = os.sysconf("SC_PAGE_SIZE")


def available_bytes() -> int:
    """The bytes that this process may have: the machine's, or its control group's."""
    bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with suppress(OSError, ValueError):     # without a limit it says "max"
        bytes = min(bytes, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return bytes


cdef size_t resident_bytes() noexcept nogil:
    cdef size_t all = 0, resident = 0
    cdef FILE* file = fopen("/proc/self/statm", "r")
    if file == NULL:
        return 0
    if fscanf(file, "%zu %zu", &all, &resident) < 2:
        resident = 0
    fclose(file)
    return resident * PAGE
