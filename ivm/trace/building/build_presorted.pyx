"""Presorted rows: ascending stretches are cut into ranges without being partitioned.

A table that comes from a snapshot or a checkpoint ascends by its key, in several feeds of which every thread
has queued some rows. Threads check a share of the rows each; rows out of order show soon. Parts are cut into
stretches, each of which comes before the next one, if these are not too many. No key has rows in two ranges:
a range ends where its last key does, and rows of that key in the next stretch are copied to a range of their
own.
"""

from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates, append, compared_words, empty_like, update_at
from ivm.threads.team cimport share_work
from ivm.trace.sorting.partition cimport Part, Ranges, total_of, view
from ivm.trace.sorting.sort cimport ascending_run
from ivm.trace.times cimport compare_words

cdef enum:
    BUCKET = 1 << 13    # rows that are taken together, as a bucket of others is; or in a stretch, on average


cdef bint view_ranges(const Part* parts, int count, int key_words, Ranges* ranges, int threads) except -1 nogil:
    cdef vector[Updates] stretches
    cdef Py_ssize_t s = 0, start = 0, end, most = total_of(parts, count) // threads + 1
    cdef Updates* rows
    if not all_ascend(parts, count, threads) or not cut_stretches(parts, count, &stretches):
        return False
    ranges.first.push_back(0)
    while s < <Py_ssize_t> stretches.size():
        rows = &stretches[s]
        end = rows.length
        if s + 1 < <Py_ssize_t> stretches.size():
            end = first_of_key(rows, start, stretches[s + 1].words, key_words)
        add_ranges(ranges, rows, start, end, key_words, most)
        start = 0
        if end == rows.length:
            s += 1
            continue
        ranges.dealt.push_back(empty_like(rows))
        start = join_key(&stretches, &s, end, key_words, &ranges.dealt.back())
        add_ranges(ranges, &ranges.dealt.back(), 0, ranges.dealt.back().length, key_words, most)
    return True


# The shared state of threads that check the order of rows.
cdef struct Looking:
    const Part* parts
    int count
    int shares          # of the rows of each part
    vector[int] falls   # of each share: not 0 if rows do not ascend


# True if the rows of each part ascend.
cdef bint all_ascend(const Part* parts, int count, int threads) except -1 nogil:
    cdef Looking looking
    cdef int p, falls
    for p in range(count):
        if parts[p].negated:
            return False
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


# Cuts parts into stretches that ascend one behind the other. False if these were many, there is none, or two
# rows are equal.
cdef bint cut_stretches(const Part* parts, int count, vector[Updates]* stretches) except -1 nogil:
    cdef vector[Updates] left       # of each part that has rows
    cdef Py_ssize_t most = count + total_of(parts, count) // BUCKET, length
    cdef int compared = compared_words(parts[0].rows), order, p, first, second
    cdef Updates stretch
    for p in range(count):
        if parts[p].rows.length > 0:
            left.push_back(parts[p].rows[0])
    while not left.empty():
        first, second = 0, -1
        for p in range(1, <int> left.size()):
            order = compare_words(left[p].words, left[first].words, compared)
            if order == 0:
                return False
            if order < 0:
                first, second = p, first
            elif second < 0 or compare_words(left[p].words, left[second].words, compared) < 0:
                second = p
        length = left[first].length
        if second >= 0:
            length = first_from(&left[first], left[second].words, compared)
        view(&left[first], 0, length, &stretch)
        stretches.push_back(stretch)
        if <Py_ssize_t> stretches.size() > most:
            return False
        view(&left[first], length, left[first].length, &left[first])
        if left[first].length == 0:
            left.erase(left.begin() + first)
    return not stretches.empty()


# The first position whose row is not below `row`; the rows before it are.
cdef Py_ssize_t first_from(const Updates* rows, const uint64_t* row, int compared) noexcept nogil:
    cdef Py_ssize_t before = 0, end = rows.length, middle
    while before + 1 < end:
        middle = (before + end) // 2
        if compare_words(update_at(rows, middle), row, compared) < 0:
            before = middle
        else:
            end = middle
    return end


cdef inline bint same_key(const uint64_t* row, const uint64_t* other, int key_words) noexcept nogil:
    return compare_words(row, other, key_words) == 0


# The first row from `start` on of a key that is the last of the rows, or comes behind all of them.
cdef Py_ssize_t first_of_key(const Updates* rows, Py_ssize_t start, const uint64_t* key,
                             int key_words) noexcept nogil:
    cdef Py_ssize_t i = rows.length
    while i > start and same_key(update_at(rows, i - 1), key, key_words):
        i -= 1
    return i


# Copies the rows of a key, which begin at `start` in the s-th stretch, to `joined`. Returns the start of the
# next key.
cdef Py_ssize_t join_key(const vector[Updates]* stretches, Py_ssize_t* s, Py_ssize_t start, int key_words,
                         Updates* joined) except -1 nogil:
    cdef const Updates* rows = &stretches[0][s[0]]
    cdef const uint64_t* key = update_at(rows, start)
    cdef Py_ssize_t end = rows.length
    while True:
        if append(joined, update_at(rows, start), end - start) < 0:
            with gil:
                raise MemoryError("no memory for a batch of an arrangement")
        if end < rows.length:
            return end
        s[0] += 1
        if s[0] == <Py_ssize_t> stretches.size():
            return 0
        rows = &stretches[0][s[0]]
        start = end = 0
        while end < rows.length and same_key(update_at(rows, end), key, key_words):
            end += 1


# Adds ranges of the rows [start, end), at most `most` rows each except for the rows of one key.
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
