"""A pool of huge pages keeps large blocks that were given back for the next taker.

The kernel clears mapped memory at first touch, which costs more than merging two batches into it: 0.1 ms
for each huge page of 2 MiB, 5 ms where a virtual machine must find the memory first. So up to one
KEPT_SHARE-th of the process's memory is kept here; pages unused for PATIENCE seconds go back to the kernel
when a block is taken or given back, or a step ends.

The kept spans are ordered by address and coalesced, so that a block of any size can be cut from them. Where
no span is large enough, the kernel moves the huge pages of several spans to where a block begins (mremap),
without touching them. Any thread may call.
"""

from libc.stdint cimport int64_t
from libc.string cimport memcpy, memmove
from libcpp.mutex cimport mutex
from posix.time cimport clock_gettime, timespec

from ivm.memory.process import available_bytes

cdef extern from "<time.h>" nogil:
    enum: CLOCK_MONOTONIC_COARSE

cdef extern from "<sys/mman.h>" nogil:
    enum: PROT_READ
    enum: PROT_WRITE
    enum: MAP_PRIVATE
    enum: MAP_ANONYMOUS
    enum: MAP_FIXED
    enum: MAP_NORESERVE
    enum: MADV_DONTNEED
    enum: MADV_HUGEPAGE
    enum: MREMAP_FIXED
    enum: MREMAP_MAYMOVE
    void* MAP_FAILED
    void* mmap(void* address, size_t length, int protection, int flags, int file, long offset)
    void* mremap(void* address, size_t before, size_t length, int flags, ...)
    int munmap(void* address, size_t length)
    int madvise(void* address, size_t length, int advice)
    int mprotect(void* address, size_t length, int protection)

cdef enum:
    KEPT_SHARE = 8
    PATIENCE = 10       # seconds
    MOST_SPANS = 256
    WORTH_FORGETTING = 1 << 18

cdef struct Span:
    char* start
    size_t bytes


cdef size_t MOST_KEPT = <size_t> 4 << 30


cdef size_t kept = min(available_bytes() // KEPT_SHARE, MOST_KEPT)
cdef mutex guard
cdef Span spans[MOST_SPANS + 1]     # that wait, by address
cdef size_t count = 0       # of these
cdef size_t waiting = 0     # their bytes
cdef size_t needless = 0    # the fewest that waited since `began`
cdef int64_t began = 0      # in seconds


cdef void* take_block(size_t bytes) noexcept nogil:
    cdef void* block
    guard.lock()
    block = _cut(bytes)
    if block == NULL:
        block = _map_over(bytes)
    if block == NULL:       # then nothing is to be kept any more
        _unmap_some(waiting)
        block = _map(bytes)
    _unmap_needless()
    guard.unlock()
    return block


# From the smallest span that is large enough; NULL without one.
cdef void* _cut(size_t bytes) noexcept nogil:
    cdef size_t i, best = count
    cdef void* block
    for i in range(count):
        if spans[i].bytes >= bytes and (
                best == count or spans[i].bytes < spans[best].bytes):
            best = i
    if best == count:
        return NULL
    block = spans[best].start
    _take_first(best, bytes)
    return block


cdef void _take_first(size_t i, size_t bytes) noexcept nogil:
    _shorten(i, bytes)
    spans[i].start += bytes
    if spans[i].bytes == 0:
        _erase(i)


cdef void* _map(size_t bytes) noexcept nogil:
    cdef void* block = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    if block == MAP_FAILED:
        return NULL
    madvise(block, bytes, MADV_HUGEPAGE)
    return block


# A new block of pages that wait, as many as there are of whole huge ones.
cdef void* _map_over(size_t bytes) noexcept nogil:
    cdef void* block = _map(bytes)
    if block != NULL and moves_together and _move_pages(<char*> block, bytes) < 0:
        return NULL
    return block


# Tests that one mremap moves several mappings, as Linux does since 6.17. Before, it unmaps what
# is to be replaced and then fails.
cdef bint _tries_to_move_together() noexcept nogil:
    cdef char* pages = <char*> mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    if pages == MAP_FAILED:
        return False
    mprotect(pages + PAGE, PAGE, PROT_READ)
    if mremap(pages, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
              pages + 2 * PAGE) == MAP_FAILED:
        munmap(pages, 2 * PAGE)
        return False
    munmap(pages + 2 * PAGE, 2 * PAGE)
    return True


cdef bint moves_together = _tries_to_move_together()


# Replaces pages of a new block, from its start on, by pages that wait. Only whole huge pages are moved:
# others would have to be split. Returns -1 if the block is lost, where the kernel is short of memory.
cdef int _move_pages(char* block, size_t bytes) noexcept nogil:
    cdef size_t i = count, skipped, moved
    while i > 0 and bytes >= HUGE_PAGE:
        i -= 1
        skipped = (HUGE_PAGE - <size_t> spans[i].start % HUGE_PAGE) % HUGE_PAGE
        if spans[i].bytes < skipped + HUGE_PAGE:
            continue
        moved = min(spans[i].bytes - skipped, bytes) // HUGE_PAGE * HUGE_PAGE
        if mremap(spans[i].start + skipped, moved, moved, MREMAP_MAYMOVE | MREMAP_FIXED,
                  block) == MAP_FAILED:     # maybe with nothing in place of what was to be replaced
            return 0 if mmap(block, moved, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE
                             | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == block else -1
        _forget_middle(i, skipped, moved)
        block += moved
        bytes -= moved
    return 0


# Notes that the bytes of a span from `skipped` on are elsewhere now.
cdef void _forget_middle(size_t i, size_t skipped, size_t moved) noexcept nogil:
    cdef Span rest = Span(spans[i].start + skipped + moved, spans[i].bytes - skipped - moved)
    _shorten(i, moved)
    spans[i].bytes = skipped
    if rest.bytes > 0:
        _insert(i + 1, rest)
    if skipped == 0:
        _erase(i)
    if count > MOST_SPANS:
        _unmap(count - 1, spans[count - 1].bytes)


cdef void* grow_block(void* block, size_t bytes, size_t wanted) noexcept nogil:
    cdef void* grown
    guard.lock()
    if _take_behind(<char*> block + bytes, wanted - bytes):
        guard.unlock()
        return block
    grown = _cut(wanted)
    if grown == NULL and moves_together and waiting >= wanted:
        grown = _map_over(wanted)
    if grown == NULL:       # the kernel moves pages without a copy, unless they were mapped apart
        grown = mremap(block, bytes, wanted, MREMAP_MAYMOVE)
        if grown != MAP_FAILED:
            guard.unlock()
            madvise(grown, wanted, MADV_HUGEPAGE)
            return grown
        grown = _map(wanted)
    guard.unlock()
    if grown != NULL:
        memcpy(grown, block, bytes)
        give_block(block, bytes)
    return grown


# Takes `bytes` from the span that begins at `start`, if there is one that has them.
cdef bint _take_behind(char* start, size_t bytes) noexcept nogil:
    cdef size_t i
    for i in range(count):
        if spans[i].start == start and spans[i].bytes >= bytes:
            _take_first(i, bytes)
            return True
    return False


cdef void give_block(void* block, size_t bytes) noexcept nogil:
    global waiting
    cdef size_t i = 0
    guard.lock()
    waiting += bytes
    while i < count and spans[i].start < <char*> block:
        i += 1
    _insert(i, Span(<char*> block, bytes))
    _join_next(i)
    if i > 0:
        _join_next(i - 1)
    if count > MOST_SPANS:
        _unmap(count - 1, spans[count - 1].bytes)
    if waiting > kept:
        _unmap_some(waiting - kept)
    _unmap_needless()
    guard.unlock()


def waiting_bytes() -> int:
    """The bytes that wait here for their next taker: this process has them, but nobody uses them."""
    return waiting


cdef void give_needless_back() noexcept nogil:
    guard.lock()
    _unmap_needless()
    guard.unlock()


cdef void _insert(size_t i, Span span) noexcept nogil:
    global count
    memmove(&spans[i + 1], &spans[i], (count - i) * sizeof(Span))
    spans[i] = span
    count += 1


cdef void _erase(size_t i) noexcept nogil:
    global count
    count -= 1
    memmove(&spans[i], &spans[i + 1], (count - i) * sizeof(Span))


# Makes a span one with the next if that begins where it ends.
cdef void _join_next(size_t i) noexcept nogil:
    if i + 1 < count and spans[i].start + spans[i].bytes == spans[i + 1].start:
        spans[i].bytes += spans[i + 1].bytes
        _erase(i + 1)


cdef void _unmap_needless() noexcept nogil:
    global needless, began
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now)
    if now.tv_sec - began >= PATIENCE:
        _unmap_some(needless)
        needless = waiting
        began = now.tv_sec


# Gives at least so many bytes back to the kernel, of those that wait.
cdef void _unmap_some(size_t bytes) noexcept nogil:
    cdef size_t before = waiting
    while before - waiting < bytes:
        _unmap(count - 1, min(spans[count - 1].bytes, bytes - (before - waiting)))


# Gives at least the last `bytes` of a span back to the kernel.
cdef void _unmap(size_t i, size_t bytes) noexcept nogil:
    bytes = min(whole_pages(bytes), spans[i].bytes)
    _shorten(i, bytes)
    munmap(spans[i].start + spans[i].bytes, bytes)
    if spans[i].bytes == 0:
        _erase(i)


# Notes that some bytes of a span wait no longer.
cdef void _shorten(size_t i, size_t bytes) noexcept nogil:
    global waiting, needless
    spans[i].bytes -= bytes
    waiting -= bytes
    needless = min(needless, waiting)


cdef void forget_pages(void* start, size_t bytes) noexcept nogil:
    cdef size_t skipped = (PAGE - <size_t> start % PAGE) % PAGE
    if bytes >= WORTH_FORGETTING:
        madvise(<char*> start + skipped, (bytes - skipped) // PAGE * PAGE, MADV_DONTNEED)
