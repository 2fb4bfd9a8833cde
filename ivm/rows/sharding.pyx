"""Rows of Arrow's columns into the queues of the shards that own them.

A row that is queued where it belongs is never moved again. Rows are written to a block within the
cache, hashed there, and copied from it to their places. A few are written to the first shard's queue, and
those that others own are moved to theirs: that takes no block, no lock and no thread.

Threads take a block each and write and hash it beside each other. Then they claim places for its rows, one
after the other in the order of the blocks, so that the queues come out as one thread would make them, and
copy rows to the places that they claimed while others claim theirs. A queue must not move meanwhile: one
that is to grow waits until nobody copies.
"""

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint16_t, uint64_t
from libcpp.mutex cimport mutex
from libcpp.vector cimport vector

from ivm.rows.columns cimport Column, read_rows
from ivm.rows.hashing cimport hash_rows, shard_of
from ivm.rows.layout cimport Layout
from ivm.rows.strings cimport Interner, Strings
from ivm.rows.updates cimport Updates, copy_update, empty_updates, release, reserve, update_at

cdef extern from "<sched.h>":
    int sched_yield() nogil

cdef enum:
    FEW_ROWS = 16           # of which no block is made, and for which the GIL is not given up
    BLOCK_ROWS = 512
    MANY_ROWS = 1 << 12     # from which on several threads write them

# What rows are written from.
cdef struct Given:
    const Column* columns
    int count
    const uint64_t* times
    uint64_t time
    const int64_t* diffs
    int64_t diff

# How many rows of a block a shard owns, and where the first of them goes.
cdef struct Share:
    Py_ssize_t count
    uint64_t* place

# A block of rows, which a thread works on, and the order of these by their owners.
cdef struct Block:
    Updates rows
    uint64_t hashes[BLOCK_ROWS]
    uint16_t order[BLOCK_ROWS + 1]      # one more than there are rows is written
    Share* shares                       # of each shard

# How far threads have come: the first block that nobody has taken, the one whose turn it is to claim
# places, and how many threads copy rows.
cdef struct Progress:
    mutex* guard
    Py_ssize_t untaken
    Py_ssize_t turn
    int copying


cdef int append_rows(
    const Column* columns, Layout layout, Interner interner, Py_ssize_t n, const uint64_t* times,
    uint64_t time, const int64_t* diffs, int64_t diff, const Owners* owners
) except -1:
    cdef Given given = Given(columns, layout.columns, times, time, diffs, diff)
    cdef int failed = 0
    if n <= FEW_ROWS:       # fewer than are worth letting other threads run Python meanwhile
        failed = (_append(&given, interner.strings, 0, n, owners.queues[0]) if owners.shards == 1
                  else _deal_few(&given, layout, interner, n, owners))
    elif owners.shards == 1:
        with nogil:
            failed = _append(&given, interner.strings, 0, n, owners.queues[0])
    else:
        failed = _deal(&given, layout, interner, n, owners)
    if failed != 0:
        raise MemoryError
    return 0


# Appends a few rows to the first queue, and moves those of other owners; not 0 where memory is short.
cdef int _deal_few(const Given* given, Layout layout, Interner interner, Py_ssize_t n,
                   const Owners* owners) noexcept nogil:
    cdef Updates* first = owners.queues[0]
    cdef Updates* queue
    cdef uint64_t hashes[FEW_ROWS]
    cdef Py_ssize_t i, start = first.length
    cdef const uint64_t* update
    cdef int owner
    for owner in range(1, owners.shards):
        if reserve(owners.queues[owner], n) < 0:
            return 1
    if _append(given, interner.strings, 0, n, first) != 0:
        return 1
    hash_rows(update_at(first, start), n, first.stride, owners.key, owners.columns, layout, interner,
              hashes)
    first.length = start
    for i in range(n):
        update = update_at(first, start + i)
        queue = owners.queues[shard_of(hashes[i], owners.shards)]
        if queue != first or first.length < start + i:
            copy_update(update_at(queue, queue.length), update, first.stride)
        queue.length += 1
    return 0


# Appends each row to the queue of its owner; not 0 where memory is short.
cdef int _deal(const Given* given, Layout layout, Interner interner, Py_ssize_t n,
               const Owners* owners) except -1:
    cdef int shards = owners.shards, threads = shards if n >= MANY_ROWS else 1
    cdef int shard, thread, failed = 0
    cdef mutex guard
    cdef Progress progress = Progress(&guard, 0, 0, 0)
    cdef Progress* shared = &progress
    cdef vector[Share] shares
    shares.resize(threads * shards)
    if n > BLOCK_ROWS:
        for shard in range(shards):     # some more than an even share, so that few need more
            failed |= reserve(owners.queues[shard], n // shards + n // shards // 16)
    if threads == 1:
        with nogil:
            failed |= _deal_blocks(given, layout, interner, n, owners, shared, shares.data())
    else:
        for thread in prange(threads, nogil=True, num_threads=threads, schedule="static",
                             chunksize=1):
            failed |= _deal_blocks(given, layout, interner, n, owners, shared,
                                   shares.data() + thread * shards)
    return failed != 0


# One thread's work: takes blocks until none is left.
cdef int _deal_blocks(const Given* given, Layout layout, Interner interner, Py_ssize_t n,
                      const Owners* owners, Progress* progress, Share* shares) noexcept nogil:
    cdef Block block
    cdef Py_ssize_t number
    cdef int failed = 0
    block.rows = empty_updates(owners.queues[0].row_words, owners.queues[0].time_words)
    block.shares = shares
    while True:
        number = _take(progress)
        if number * BLOCK_ROWS >= n:
            break
        failed |= _fill(&block, given, layout, interner, number * BLOCK_ROWS,
                        min(n, (number + 1) * BLOCK_ROWS), owners)
        failed |= _claim(&block, number, owners, progress)
        _copy(&block, owners.shards)
        progress.guard.lock()
        progress.copying -= 1
        progress.guard.unlock()
    release(&block.rows)
    return failed


cdef Py_ssize_t _take(Progress* progress) noexcept nogil:
    cdef Py_ssize_t number
    progress.guard.lock()
    number = progress.untaken
    progress.untaken += 1
    progress.guard.unlock()
    return number


# Writes the rows from `start` to `end` to the block, and puts them in the order of their owners; there are
# none, and it is not 0, where memory is short.
cdef int _fill(Block* block, const Given* given, Layout layout, Interner interner, Py_ssize_t start,
               Py_ssize_t end, const Owners* owners) noexcept nogil:
    cdef Py_ssize_t i, n = 0, first
    cdef int failed
    cdef size_t shard, shards = owners.shards
    block.rows.length = 0
    failed = _append(given, interner.strings, start, end, &block.rows)
    hash_rows(block.rows.words, block.rows.length, block.rows.stride, owners.key, owners.columns, layout,
              interner, block.hashes)
    for shard in range(shards):     # no branch, and no counter in memory, on which the next row would wait
        first = n
        for i in range(block.rows.length):
            block.order[n] = <uint16_t> i
            n += shard_of(block.hashes[i], shards) == shard
        block.shares[shard].count = n - first
    return failed


# Claims places for the block's rows once those of all blocks before have theirs. The thread that claims
# copies, until it says that it is done. Not 0, and the block is empty, where memory is short.
cdef int _claim(Block* block, Py_ssize_t number, const Owners* owners, Progress* progress) noexcept nogil:
    cdef Updates* queue
    cdef int failed = 0, shard
    progress.guard.lock()
    while progress.turn != number or (progress.copying > 0 and _lacks_room(block, owners)):
        progress.guard.unlock()
        sched_yield()
        progress.guard.lock()
    for shard in range(owners.shards):
        failed |= reserve(owners.queues[shard], block.shares[shard].count)
    if failed != 0:
        block.rows.length = 0
    else:
        for shard in range(owners.shards):
            queue = owners.queues[shard]
            block.shares[shard].place = update_at(queue, queue.length)
            queue.length += block.shares[shard].count
    progress.turn += 1
    progress.copying += 1
    progress.guard.unlock()
    return failed


cdef bint _lacks_room(const Block* block, const Owners* owners) noexcept nogil:
    cdef int shard
    for shard in range(owners.shards):
        if owners.queues[shard].capacity - owners.queues[shard].length < block.shares[shard].count:
            return True
    return False


# Copies the block's rows to the places that were claimed for them.
cdef void _copy(Block* block, int shards) noexcept nogil:
    cdef const uint16_t* next = block.order
    cdef uint64_t* place
    cdef Py_ssize_t i
    cdef int shard, stride = block.rows.stride
    if block.rows.length == 0:
        return
    for shard in range(shards):
        place = block.shares[shard].place
        for i in range(block.shares[shard].count):
            copy_update(place, block.rows.words + next[i] * stride, stride)
            place += stride
        next += block.shares[shard].count


# Appends the rows from `start` to `end`, a block after the other; not 0 where memory is short.
cdef int _append(const Given* given, Strings* strings, Py_ssize_t start, Py_ssize_t end,
                 Updates* out) noexcept nogil:
    cdef Py_ssize_t i, next
    cdef uint64_t* update
    if reserve(out, end - start) < 0:
        return 1
    while start < end:
        next = min(end, start + BLOCK_ROWS)
        update = update_at(out, out.length)
        if read_rows(given.columns, given.count, start, next, update, out.stride, strings) < 0:
            return 1
        out.length += next - start
        for i in range(start, next):
            update[out.row_words] = given.time if given.times == NULL else given.times[i]
            update[out.stride - 1] = <uint64_t> (given.diff if given.diffs == NULL else given.diffs[i])
            update += out.stride
        start = next
    return 0
