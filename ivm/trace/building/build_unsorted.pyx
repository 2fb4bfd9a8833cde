"""Builds a batch of updates in any order.

Rows that exceed the cache are partitioned into buckets: each bucket is sorted within the cache and written
from there into arrays of the greatest length that may be needed. A row is moved once less and read twice less
than by a sort. This needs updates of one time, as a load has; others are sorted first.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from ivm.rows.updates cimport (
    Updates, append_dressed, compared_words, empty_like, empty_updates, is_bare, release, release_large,
    reserve, update_at,
)
from ivm.trace.batch cimport Batch, Room, allocate_batch, copy_batch, drop, pack_batch
from ivm.trace.sorting.bucket_sort cimport BUCKET_LENGTH, DIGIT_BITS, Sorting, begin_sorting, end_sorting
from ivm.trace.building.build cimport build_in_place
from ivm.trace.sorting.sort cimport deal, is_worth_dealing, run_of, sort_bare_bucket, sort_bucket, sort_dealt


cdef Batch* build_unsorted(Updates* updates, int key_words) noexcept nogil:
    cdef Py_ssize_t ends[1 << DIGIT_BITS]
    cdef Py_ssize_t buckets
    cdef Batch* b = NULL
    cdef Updates dealt = empty_like(updates)
    cdef Py_ssize_t run = run_of(updates) if is_bare(updates) or updates.length > BUCKET_LENGTH else 0
    if not is_worth_dealing(updates, run):
        if is_bare(updates):
            return _build_bare(updates, run, key_words)
        return build_in_place(updates, key_words)
    buckets = deal(updates, &dealt, ends)
    if buckets > 0:
        release_large(updates)
        b = build_dealt(&dealt, ends, buckets, key_words)
    release(&dealt)
    return b


# Builds a batch of bare updates, of which the first `run` ascend: in place if all do, and else sorted among
# ordinary updates.
cdef Batch* _build_bare(Updates* updates, Py_ssize_t run, int key_words) noexcept nogil:
    cdef Updates dressed = empty_updates(updates.row_words, 1)
    cdef Batch* b = NULL
    if run == updates.length > 0:
        b = _allocate_most(updates, key_words)
        if b != NULL:
            _begin_appending(b, updates)
            _append_sorted(b, updates, &dressed, updates.length)
            _close_keys(b)
            b = pack_batch(b)
        return b
    if append_dressed(&dressed, updates) == 0:
        release_large(updates)
        b = build_in_place(&dressed, key_words)
    release(&dressed)
    return b


cdef Batch* build_dealt(Updates* dealt, const Py_ssize_t* ends, Py_ssize_t buckets,
                        int key_words) noexcept nogil:
    cdef Updates diffs = empty_updates(0, 0)
    cdef Batch* b = _allocate_most(dealt, key_words)
    cdef Appended outcome = NO_MEMORY if b == NULL else append_dealt(b, dealt, ends, buckets, &diffs)
    if outcome == APPENDED:
        release_large(dealt)
        _close_keys(b)
        b = pack_batch(b) if diffs.length == 0 else _with_diffs(b, &diffs)
    else:
        drop(b)
        b = _build_sorted(dealt, ends, buckets, key_words) if outcome == SEVERAL_TIMES else NULL
    release(&diffs)
    return b


# Allocates a batch for the updates of one time, all with diff 1.
cdef Batch* _allocate_most(const Updates* updates, int key_words) noexcept nogil:
    cdef Room room
    memset(&room, 0, sizeof(Room))
    room.keys = room.vals = room.updates = updates.length
    room.times = 1
    room.val_start = True
    return allocate_batch(key_words, updates.row_words - key_words, updates.time_words, &room)


# Consolidates partitioned updates, and builds a batch of them.
cdef Batch* _build_sorted(Updates* dealt, const Py_ssize_t* ends, Py_ssize_t buckets,
                          int key_words) noexcept nogil:
    cdef Sorting sorting
    cdef Updates sorted = empty_updates(dealt.row_words, dealt.time_words)
    cdef Batch* b = NULL
    if begin_sorting(&sorting, dealt.stride, dealt.stride - 1, dealt.length) == 0 and (
            reserve(&sorted, dealt.length) == 0):
        sorted.length = sort_dealt(&sorting, dealt.words, ends, buckets, False, sorted.words)
        release_large(dealt)
        b = build_in_place(&sorted, key_words)
    end_sorting(&sorting)
    release(&sorted)
    return b


cdef Appended append_dealt(Batch* b, Updates* dealt, const Py_ssize_t* ends, Py_ssize_t buckets,
                           Updates* diffs) noexcept nogil:
    cdef Bucket bucket
    cdef Appended outcome = NO_MEMORY
    bucket.dealt = empty_like(dealt)
    bucket.ordinary = empty_updates(dealt.row_words, dealt.time_words)
    bucket.bare = empty_like(dealt)
    if begin_sorting(&bucket.sorting, bucket.ordinary.stride, compared_words(&bucket.ordinary),
                     dealt.length) == 0:
        outcome = _append_buckets(b, &bucket, dealt, ends, buckets, diffs)
    end_sorting(&bucket.sorting)
    release(&bucket.ordinary)
    release(&bucket.bare)
    return outcome


# The buffers in which a bucket's rows are sorted.
cdef struct Bucket:
    Sorting sorting     # of ordinary ones
    Updates dealt       # where they were dealt to
    Updates ordinary
    Updates bare


# Sorts and consolidates the rows of a bucket; NULL where memory is short.
cdef const Updates* _sort_rows(Bucket* bucket, uint64_t* words, Py_ssize_t n) noexcept nogil:
    bucket.dealt.words = words
    bucket.dealt.length = n
    if run_of(&bucket.dealt) == n:
        return &bucket.dealt
    if is_bare(&bucket.bare):
        return sort_bare_bucket(&bucket.sorting, words, n, &bucket.bare, &bucket.ordinary)
    if sort_bucket(&bucket.sorting, words, n, &bucket.ordinary) < 0:
        return NULL
    return &bucket.ordinary


# Moves the starts of values right behind the keys, once all are there. Pages of a gap would be given back,
# and cleared for the next batch.
cdef void _close_keys(Batch* b) noexcept nogil:
    if b.keys == b.vals:
        b.val_start = NULL
    else:
        memmove(b.key + b.keys * b.key_words, b.val_start, (b.keys + 1) * sizeof(uint32_t))
        b.val_start = <uint32_t*> (b.key + b.keys * b.key_words)


# Sorts one bucket after the other and appends the survivors, as long as all have one time.
cdef Appended _append_buckets(Batch* b, Bucket* bucket, Updates* dealt, const Py_ssize_t* ends,
                              Py_ssize_t buckets, Updates* diffs) noexcept nogil:
    cdef Py_ssize_t i, start = 0
    cdef const Updates* sorted
    cdef Appended outcome
    _begin_appending(b, dealt)
    for i in range(buckets):
        sorted = _sort_rows(bucket, update_at(dealt, start), ends[i] - start)
        if sorted == NULL:
            return NO_MEMORY
        start = ends[i]
        outcome = _append_sorted(b, sorted, diffs, dealt.length)
        if outcome != APPENDED:
            return outcome
    return APPENDED


# Takes the time of the batch from the first of the updates.
cdef void _begin_appending(Batch* b, const Updates* updates) noexcept nogil:
    memcpy(b.times, &updates.time if is_bare(updates) else updates.words + updates.row_words,
           b.time_words * sizeof(uint64_t))
    b.time_count = 1


# Appends updates that ascend, `most` in all. Diffs go to `diffs` from the first one that is not 1.
cdef Appended _append_sorted(Batch* b, const Updates* sorted, Updates* diffs, Py_ssize_t most) noexcept nogil:
    cdef uint64_t in_time = 0, in_diff = diffs.length
    if b.key_words == 1 and b.val_words == 1 and is_bare(sorted):
        _append_rows(b, sorted, 1, 2, 2, &in_time, &in_diff)
    elif b.key_words == 1 and b.val_words == 1 and b.time_words == 1:
        _append_rows(b, sorted, 1, 2, 4, &in_time, &in_diff)
    else:
        _append_rows(b, sorted, b.key_words, sorted.row_words, sorted.stride, &in_time, &in_diff)
    if in_time != 0:
        return SEVERAL_TIMES
    if in_diff != 0 and _append_diffs(diffs, b.updates, sorted, most) < 0:
        return NO_MEMORY
    b.vals += sorted.length
    b.updates += sorted.length
    return APPENDED


# Appends the keys and values of rows of one time, and each key's start of values: as `_fill_groups`. Adds to
# `in_time` the bits in which a time differs from that of the batch, and to `in_diff` those in which a diff
# differs from 1.
cdef inline void _append_rows(Batch* b, const Updates* updates, int key_words, int row_words, int stride,
                              uint64_t* in_time, uint64_t* in_diff) noexcept nogil:
    cdef int val_words = row_words - key_words, w
    cdef Py_ssize_t i, k = b.keys - 1, v = b.vals
    cdef const uint64_t* row = updates.words
    cdef const uint64_t* before = row if k < 0 else b.key + k * key_words
    cdef uint64_t in_key = k < 0    # there is none before the first one
    cdef uint64_t times = 0, diffs = 0
    for i in range(updates.length):
        for w in range(key_words):
            in_key |= row[w] ^ before[w]
        for w in range(row_words, stride - 1):
            times |= row[w] ^ b.times[w - row_words]
        if stride > row_words:      # else they are bare
            diffs |= row[stride - 1] ^ 1
        k += in_key != 0
        v += 1
        for w in range(key_words):
            b.key[k * key_words + w] = row[w]
        for w in range(val_words):
            b.val[(v - 1) * val_words + w] = row[key_words + w]
        b.val_start[k + 1] = <uint32_t> v
        in_key = 0
        before = row
        row += stride
    b.val_start[0] = 0
    b.keys = k + 1
    in_time[0] |= times
    in_diff[0] |= diffs


# Appends the diffs of rows, once one has not been 1, to those of the `before` rows before: `most` in all. -1
# where memory is short.
cdef int _append_diffs(Updates* diffs, Py_ssize_t before, const Updates* updates,
                       Py_ssize_t most) noexcept nogil:
    cdef Py_ssize_t i
    if reserve(diffs, most - diffs.length) < 0:
        return -1
    for i in range(diffs.length, before):
        diffs.words[i] = 1
    for i in range(updates.length):
        diffs.words[before + i] = 1 if is_bare(updates) else update_at(updates, i)[updates.stride - 1]
    diffs.length = before + updates.length
    return 0


# Moves the batch into a block with room for diffs; NULL where memory is short. The batch `b` is gone in both
# cases.
cdef Batch* _with_diffs(Batch* b, const Updates* diffs) noexcept nogil:
    cdef Batch* whole
    b.diff = <int64_t*> diffs.words
    whole = copy_batch(b)
    drop(b)
    return whole
