"""Rows of Arrow's columns into the queues of the shards that own them.

A row that is queued where it belongs is never moved to another shard. Rows are written to a block
within the cache, hashed there, and copied from it.
"""

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.rows.columns cimport Column, read_rows
from ivm.rows.hashing cimport hash_rows, shard_of
from ivm.rows.layout cimport Layout
from ivm.rows.strings cimport Interner, Strings
from ivm.rows.updates cimport (
    Updates, append, copy_update, empty_updates, release, reserve, update_at,
)

cdef enum:
    BLOCK_ROWS = 512
    MANY_ROWS = 1 << 14     # from which on several threads write them

# What rows are written from.
cdef struct Given:
    const Column* columns
    int count
    const uint64_t* times
    uint64_t time
    const int64_t* diffs
    int64_t diff


cdef int append_rows(
    const Column* columns, Layout layout, Interner interner, Py_ssize_t n, const uint64_t* times,
    uint64_t time, const int64_t* diffs, int64_t diff, const Owners* owners
) except -1:
    cdef Given given = Given(columns, layout.columns, times, time, diffs, diff)
    cdef int failed = 0
    if owners.shards == 1:
        with nogil:
            failed = _append(&given, interner.strings, 0, n, owners.queues[0])
    elif n < MANY_ROWS:
        with nogil:
            failed = _deal(&given, layout, interner, 0, n, owners, owners.queues)
    else:
        failed = _append_by_threads(&given, layout, interner, n, owners)
    if failed != 0:
        raise MemoryError
    return 0


# Each thread deals out a part of the rows, then puts together what one shard owns of all parts; not 0
# where memory is short.
cdef int _append_by_threads(const Given* given, Layout layout, Interner interner, Py_ssize_t n,
                            const Owners* owners) except -1:
    cdef Py_ssize_t part, shard, parts = owners.shards
    cdef vector[Updates] pieces
    cdef vector[Updates*] targets
    cdef int failed = 0
    for part in range(parts * parts):
        pieces.push_back(empty_updates(owners.queues[0].row_words, owners.queues[0].time_words))
    for part in range(parts * parts):
        targets.push_back(&pieces[part])
    for part in prange(parts, nogil=True, num_threads=parts, schedule="static", chunksize=1):
        failed |= _deal(given, layout, interner, part * n // parts, (part + 1) * n // parts, owners,
                        targets.data() + part * parts)
    if failed == 0:
        for shard in prange(parts, nogil=True, num_threads=parts, schedule="static", chunksize=1):
            failed |= _join(targets.data() + shard, parts, owners.queues[shard])
    for part in range(parts * parts):
        release(&pieces[part])
    return failed


# Appends a shard's pieces, which lie `parts` apart, to its queue; not 0 where memory is short.
cdef int _join(Updates** pieces, Py_ssize_t parts, Updates* queue) noexcept nogil:
    cdef Py_ssize_t part
    for part in range(parts):
        if queue.length == 0:
            queue[0], pieces[part * parts][0] = pieces[part * parts][0], queue[0]
        elif append(queue, pieces[part * parts].words, pieces[part * parts].length) < 0:
            return 1
    return 0


# Appends the rows from `start` to `end`; not 0 where memory is short.
cdef int _append(const Given* given, Strings* strings, Py_ssize_t start, Py_ssize_t end,
                 Updates* out) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t* update
    if reserve(out, end - start) < 0:
        return 1
    update = update_at(out, out.length)
    if read_rows(given.columns, given.count, start, end, update, out.stride, strings) < 0:
        return 1
    for i in range(start, end):
        update[out.row_words] = given.time if given.times == NULL else given.times[i]
        update[out.stride - 1] = <uint64_t> (given.diff if given.diffs == NULL else given.diffs[i])
        update += out.stride
    out.length += end - start
    return 0


# Appends each row from `start` to `end` to that of the `targets` that is its owner's; not 0 where memory
# is short.
cdef int _deal(const Given* given, Layout layout, Interner interner, Py_ssize_t start, Py_ssize_t end,
               const Owners* owners, Updates** targets) noexcept nogil:
    cdef Updates block = empty_updates(owners.queues[0].row_words, owners.queues[0].time_words)
    cdef uint64_t hashes[BLOCK_ROWS]
    cdef Py_ssize_t share = (end - start) // owners.shards
    cdef int failed = 0, shard
    for shard in range(owners.shards):      # some more than an even share, so that few need more
        failed |= reserve(targets[shard], share + share // 16)
    while start < end and failed == 0:
        block.length = 0
        failed = _append(given, interner.strings, start, min(end, start + BLOCK_ROWS), &block)
        for shard in range(owners.shards):
            failed |= reserve(targets[shard], block.length)
        if failed == 0:
            hash_rows(block.words, block.length, block.stride, owners.key, owners.columns, layout,
                      interner, hashes)
            _scatter(&block, hashes, owners.shards, targets)
        start += BLOCK_ROWS
    release(&block)
    return failed


# Copies each row to its owner's target, which has room.
cdef void _scatter(const Updates* block, const uint64_t* hashes, int shards,
                   Updates** targets) noexcept nogil:
    cdef const uint64_t* update = block.words
    cdef Updates* target
    cdef Py_ssize_t i
    for i in range(block.length):
        target = targets[shard_of(hashes[i], shards)]
        copy_update(update_at(target, target.length), update, block.stride)
        target.length += 1
        update += block.stride
