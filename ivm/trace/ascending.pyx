"""Ranges of rows that ascend as they are: nobody deals these out.

So comes a table by its key, from a snapshot or a checkpoint. Threads look at some rows each; those that do not
ascend show it soon. No two ranges have rows of one key: a range ends where its last key does, and where that one's
rows go on in the next part, they are copied to a range of their own.
"""

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates, append, compared_words, empty_like, update_at
from ivm.team cimport share_work
from ivm.trace.dealing cimport Part, Ranges, total_of, view
from ivm.trace.sort cimport ascending_run
from ivm.trace.times cimport compare_words

cdef enum:
    BUCKET = 1 << 13    # rows that are taken together, as a bucket of others is


cdef bint view_ranges(const Part* parts, int count, int key_words, Ranges* ranges, int threads) except -1 nogil:
    cdef Py_ssize_t start = 0, end, most = total_of(parts, count) // threads + 1
    cdef int p = next_part(parts, count, 0), following
    if p == count or not ascend_together(parts, count, threads):
        return False
    ranges.first.push_back(0)
    while p < count:
        following = next_part(parts, count, p + 1)
        end = parts[p].rows.length
        if following < count:
            end = first_of_key(parts[p].rows, start, parts[following].rows.words, key_words)
        add_ranges(ranges, parts[p].rows, start, end, key_words, most)
        start = 0
        if end == parts[p].rows.length:
            p = following
            continue
        ranges.dealt.push_back(empty_like(parts[p].rows))
        start = join_key(parts, count, &p, end, key_words, &ranges.dealt.back())
        add_ranges(ranges, &ranges.dealt.back(), 0, ranges.dealt.back().length, key_words, most)
    return True


# The first part from the p-th on that has rows, or `count`.
cdef int next_part(const Part* parts, int count, int p) noexcept nogil:
    while p < count and parts[p].rows.length == 0:
        p += 1
    return p


# What threads look at, and what came of it.
cdef struct Looking:
    const Part* parts
    int count
    int shares          # of the rows of each part
    vector[int] falls   # of each share: not 0 if rows do not ascend


cdef bint ascend_together(const Part* parts, int count, int threads) except -1 nogil:
    cdef Looking looking
    cdef const Updates* last = NULL
    cdef const Updates* rows
    cdef int p, falls
    for p in range(count):
        rows = parts[p].rows
        if parts[p].negated:
            return False
        if rows.length == 0:
            continue
        if last != NULL and compare_words(
                update_at(last, last.length - 1), rows.words, compared_words(rows)) >= 0:
            return False
        last = rows
    looking.parts = parts
    looking.count = count
    looking.shares = threads
    looking.falls.resize(threads)
    share_work(look_for_falls, &looking, threads, threads)
    for falls in looking.falls:
        if falls != 0:
            return False
    return True


cdef int look_for_falls(void* context, Py_ssize_t share) except -1 nogil:
    cdef Looking* looking = <Looking*> context
    cdef const Updates* rows
    cdef Py_ssize_t start, end
    cdef int p
    for p in range(looking.count):
        rows = looking.parts[p].rows
        start = max(0, share * rows.length // looking.shares - 1)     # with the last one of the share before
        end = (share + 1) * rows.length // looking.shares
        if ascending_run(update_at(rows, start), end - start, rows.stride, compared_words(rows)) < end - start:
            looking.falls[share] = 1
            break
    return 0


cdef inline bint same_key(const uint64_t* row, const uint64_t* other, int key_words) noexcept nogil:
    return compare_words(row, other, key_words) == 0


# Where the rows of a key begin, which is the last one from `start` on, or comes behind all.
cdef Py_ssize_t first_of_key(const Updates* rows, Py_ssize_t start, const uint64_t* key,
                             int key_words) noexcept nogil:
    cdef Py_ssize_t i = rows.length
    while i > start and same_key(update_at(rows, i - 1), key, key_words):
        i -= 1
    return i


# Copies the rows of a key, which begin at `start` in the p-th part, to `joined`; where the next key begins.
cdef Py_ssize_t join_key(const Part* parts, int count, int* p, Py_ssize_t start, int key_words,
                         Updates* joined) except -1 nogil:
    cdef const Updates* rows = parts[p[0]].rows
    cdef const uint64_t* key = update_at(rows, start)
    cdef Py_ssize_t end = rows.length
    while True:
        if append(joined, update_at(rows, start), end - start) < 0:
            with gil:
                raise MemoryError("no memory for a batch of an arrangement")
        if end < rows.length:
            return end
        p[0] = next_part(parts, count, p[0] + 1)
        if p[0] == count:
            return 0
        rows = parts[p[0]].rows
        start = end = 0
        while end < rows.length and same_key(update_at(rows, end), key, key_words):
            end += 1


# Adds ranges of the rows from `start` to before `end`, as few as have `most` rows each, but for those of a key.
cdef int add_ranges(Ranges* ranges, const Updates* rows, Py_ssize_t start, Py_ssize_t end, int key_words,
                    Py_ssize_t most) except -1 nogil:
    cdef Py_ssize_t length = end - start, pieces = (length + most - 1) // most, begin = start, n, stop, i
    cdef Updates piece
    for n in range(pieces):
        stop = max(begin, start + (n + 1) * length // pieces)
        while begin < stop < end and same_key(update_at(rows, stop - 1), update_at(rows, stop), key_words):
            stop += 1
        if stop == begin:
            continue
        view(rows, begin, stop, &piece)
        ranges.rows.push_back(piece)
        i = 0
        while i < piece.length:
            i = min(piece.length, i + <Py_ssize_t> BUCKET)
            ranges.ends.push_back(i)
        ranges.first.push_back(<Py_ssize_t> ranges.ends.size())
        begin = stop
    return 0
