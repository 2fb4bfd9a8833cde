"""Sorting and consolidation of updates.

Rows that begin with a long ascending run are often all but sorted: the output of a walk through an
arrangement's batches, a table in the order of its primary key. Then only the rest is sorted, which may begin
with such a run itself, and merged into the run.

Rows that exceed the cache are first partitioned by their leading varying bits into buckets that fit, so that
no row is fetched from afar. A bucket that is still too large, since its rows agree in these bits, is
partitioned again by the bits in which they differ: each round consumes some, so this ends.
`ivm.trace.sorting.bucket_sort` sorts a bucket.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memmove, memset

from ivm.rows.updates cimport (
    Updates, append_dressed, compared_words, copy_update, empty_like, empty_updates, release, reserve,
)
from ivm.trace.counts cimport add_to
from ivm.trace.sorting.bucket_sort cimport (
    BUCKET_LENGTH,
    DIGIT_BITS,
    MAX_WORDS,
    Sorting,
    begin_sorting,
    end_sorting,
    extract_bits,
    gather_counted,
    gather_distinct,
    note_varying_bits,
    sort_in_cache,
    sort_places,
)
from ivm.trace.times cimport compare_words

cdef extern from *:
    int popcount "__builtin_popcountll"(unsigned long long) noexcept nogil
    void prefetch_to_write "__builtin_prefetch"(const void*, int) noexcept nogil

cdef enum:
    INSERTION_LENGTH = 24    # below, moving rows in place beats any set-up
    DEALT_LENGTH = 1 << 13   # rows that a bucket is to have
    AHEAD = 32               # rows whose places are prefetched before they are moved
    LEAST_BITS = 6           # of a round, so that few rounds nest
    SAMPLED = 1 << 12        # rows that tell by which bits to deal, until counting shows others to vary
    LONG_RUN = 4             # a run that is at least one in so many of the rows is not sorted again


cdef int consolidate(Updates* updates) noexcept nogil:
    cdef int failed, compared = updates.row_words + updates.time_words
    cdef Py_ssize_t run
    cdef Updates rest
    if updates.length <= 1:     # as most often in rounds of one row
        updates.length -= updates.length == 1 and updates.words[updates.stride - 1] == 0
        return 0
    if updates.length < INSERTION_LENGTH:
        _insertion_sort(updates, compared)
        _add_up_in_place(updates, compared)
        return 0
    run = run_of(updates)
    if run == updates.length:
        return 0
    if LONG_RUN * run < updates.length:
        return _sort_large(updates, compared)
    rest = updates[0]
    rest.words += run * updates.stride
    rest.length -= run
    failed = consolidate(&rest)
    updates.length = run + rest.length
    if failed < 0 or rest.length == 0:
        return failed
    return _merge_in(updates, run, compared)


cdef void _insertion_sort(Updates* updates, int compared) noexcept nogil:
    cdef int stride = updates.stride
    cdef uint64_t held[MAX_WORDS]
    cdef Py_ssize_t i, j
    for i in range(1, updates.length):
        if compare_words(updates.words + (i - 1) * stride, updates.words + i * stride, compared) <= 0:
            continue
        copy_update(held, updates.words + i * stride, stride)
        j = i
        while j > 0 and compare_words(updates.words + (j - 1) * stride, held, compared) > 0:
            copy_update(updates.words + j * stride, updates.words + (j - 1) * stride, stride)
            j -= 1
        copy_update(updates.words + j * stride, held, stride)


cdef void _add_up_in_place(Updates* updates, int compared) noexcept nogil:
    cdef int stride = updates.stride, diff = updates.stride - 1
    cdef Py_ssize_t i = 0, j, kept = 0
    cdef uint64_t total
    while i < updates.length:
        total = updates.words[i * stride + diff]
        j = i + 1
        while j < updates.length and compare_words(
                updates.words + i * stride, updates.words + j * stride, compared) == 0:
            add_to(&total, updates.words[j * stride + diff])
            j += 1
        if total != 0:
            if kept != i:
                copy_update(updates.words + kept * stride, updates.words + i * stride, stride)
            updates.words[kept * stride + diff] = total
            kept += 1
        i = j
    updates.length = kept


# --- runs ---

cdef Py_ssize_t ascending_run(const uint64_t* row, Py_ssize_t n, int stride, int compared) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if (compared < stride and row[stride - 1] == 0
                or i > 0 and compare_words(row - stride, row, compared) >= 0):
            return i
        row += stride
    return n


cdef Py_ssize_t run_of(const Updates* updates) noexcept nogil:
    return ascending_run(updates.words, updates.length, updates.stride, compared_words(updates))


# Merges two runs, the second from `run` on, from their ends; 0, or -1 where memory is short.
cdef int _merge_in(Updates* updates, Py_ssize_t run, int compared) noexcept nogil:
    cdef int stride = updates.stride, diff = updates.stride - 1, order
    cdef Py_ssize_t rest = updates.length - run, last = updates.length
    cdef size_t bytes = stride * sizeof(uint64_t)
    cdef uint64_t* words = updates.words
    cdef Updates scratch = empty_updates(updates.row_words, updates.time_words)
    if reserve(&scratch, rest) < 0:
        return -1
    memcpy(scratch.words, words + run * stride, rest * bytes)
    while rest > 0:
        order = -1 if run == 0 else compare_words(
            words + (run - 1) * stride, scratch.words + (rest - 1) * stride, compared)
        if order == 0:
            run -= 1
            add_to(&scratch.words[(rest - 1) * stride + diff], words[run * stride + diff])
            if scratch.words[(rest - 1) * stride + diff] == 0:
                rest -= 1
                continue
        last -= 1
        if order > 0:
            run -= 1
            copy_update(words + last * stride, words + run * stride, stride)
        else:
            rest -= 1
            copy_update(words + last * stride, scratch.words + rest * stride, stride)
    release(&scratch)
    if last > run:      # equal ones were added up
        memmove(words + run * stride, words + last * stride, (updates.length - last) * bytes)
        updates.length -= last - run
    return 0


# --- beyond insertion ---

cdef int _sort_large(Updates* updates, int compared) noexcept nogil:
    cdef Sorting sorting
    cdef Py_ssize_t n = updates.length
    cdef Updates scratch = empty_updates(updates.row_words, updates.time_words)
    if begin_sorting(&sorting, updates.stride, compared, n) < 0 or reserve(&scratch, n) < 0:
        end_sorting(&sorting)
        return -1
    if n > BUCKET_LENGTH:
        updates.length = _deal(&sorting, updates.words, scratch.words, n)
    else:
        updates.length = sort_in_cache(&sorting, updates.words, scratch.words, n)
        memcpy(updates.words, scratch.words,
               <size_t> updates.length * updates.stride * sizeof(uint64_t))
    release(&scratch)
    end_sorting(&sorting)
    return 0


# Consolidates `n` rows at `words` in place by partitioning; returns the number of survivors.
cdef Py_ssize_t _deal(const Sorting* sorting, uint64_t* words, uint64_t* scratch,
                      Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t ends[1 << DIGIT_BITS]
    cdef int bits = _deal_by_bits(words, scratch, n, sorting.stride, sorting.compared, ends)
    return sort_dealt(sorting, scratch, ends, 1 << bits, bits == 0, words)


# Moves `n` rows to `target`, ordered by some leading varying bits, and returns the number of these bits.
# Writes the end of the rows of each pattern of bits.
cdef int _deal_by_bits(const uint64_t* words, uint64_t* target, Py_ssize_t n, int stride, int compared,
                       Py_ssize_t* ends) noexcept nogil:
    cdef uint64_t masks[MAX_WORDS]
    cdef int bits, word = 0, step = 1 + <int> (n // SAMPLED)
    cdef int most = max(LEAST_BITS, bits_to_deal(n))
    memset(masks, 0, compared * sizeof(uint64_t))
    note_varying_bits(words, words, n // step, step * stride, compared, masks)
    bits = leading_bits(masks, compared, most, &word)
    if not _count(words, n, stride, word, masks[word], ends):
        note_varying_bits(words, words, n, stride, compared, masks)
        bits = leading_bits(masks, compared, most, &word)
        _count(words, n, stride, word, masks[word], ends)
    _deal_out(words, target, n, stride, word, masks[word], ends)
    return bits


cdef bint is_worth_dealing(const Updates* updates, Py_ssize_t run) noexcept nogil:
    return updates.length > BUCKET_LENGTH and LONG_RUN * run < updates.length


cdef Py_ssize_t deal(const Updates* updates, Updates* dealt, Py_ssize_t* ends) noexcept nogil:
    if reserve(dealt, updates.length) < 0:
        return -1
    dealt.length = updates.length
    return <Py_ssize_t> 1 << _deal_by_bits(updates.words, dealt.words, dealt.length, updates.stride,
                                           compared_words(updates), ends)


cdef int sort_bucket(const Sorting* sorting, uint64_t* rows, Py_ssize_t n, Updates* into) noexcept nogil:
    cdef Py_ssize_t i
    into.length = 0
    if reserve(into, n) < 0:
        return -1
    if n <= BUCKET_LENGTH:
        into.length = sort_in_cache(sorting, rows, into.words, n)
    else:
        into.length = _deal(sorting, rows, into.words, n)
        memcpy(into.words, rows, <size_t> into.length * sorting.stride * sizeof(uint64_t))
        for i in range(into.length, n):     # the rows behind have been added up
            rows[(i + 1) * sorting.stride - 1] = 0
    return 0


cdef const Updates* sort_bare_bucket(const Sorting* sorting, uint64_t* words, Py_ssize_t n, Updates* bare,
                                     Updates* ordinary) noexcept nogil:
    cdef Sorting words_alone = sorting[0]
    cdef Updates rows = bare[0]
    cdef bint whole
    cdef int low
    rows.words = words
    rows.length = n
    bare.length = ordinary.length = 0
    if n > BUCKET_LENGTH:
        return ordinary if _sort_dressed(sorting, &rows, ordinary) == 0 else NULL
    if reserve(bare, n) < 0:
        return NULL
    words_alone.stride = words_alone.compared = rows.stride
    whole = sort_places(&words_alone, words, n, &low)
    if gather_distinct(&words_alone, words, bare.words, n, low, whole):
        bare.length = n
        return bare
    if reserve(ordinary, n) < 0:
        return NULL
    ordinary.length = gather_counted(&words_alone, &rows, ordinary.words, low, whole)
    return ordinary


# Consolidates bare rows that were given times and diffs; -1 where memory is short.
cdef int _sort_dressed(const Sorting* sorting, const Updates* bare, Updates* into) noexcept nogil:
    cdef Updates dressed = empty_like(into)
    cdef int failed = append_dressed(&dressed, bare)
    if failed == 0:
        failed = sort_bucket(sorting, dressed.words, dressed.length, into)
    release(&dressed)
    return failed


cdef int bits_to_deal(Py_ssize_t n) noexcept nogil:
    cdef int bits = 0
    while bits < DIGIT_BITS and (n >> bits) > DEALT_LENGTH:
        bits += 1
    return bits


cdef int leading_bits(uint64_t* masks, int compared, int most, int* word) noexcept nogil:
    cdef int bits
    word[0] = 0
    while word[0] < compared - 1 and masks[word[0]] == 0:
        word[0] += 1
    bits = popcount(masks[word[0]])
    while bits > most:
        masks[word[0]] &= masks[word[0]] - 1
        bits -= 1
    return bits


cdef Py_ssize_t sort_dealt(const Sorting* sorting, uint64_t* dealt, const Py_ssize_t* ends,
                           Py_ssize_t buckets, bint equal, uint64_t* target) noexcept nogil:
    cdef int stride = sorting.stride
    cdef Py_ssize_t bucket, n, kept
    cdef uint64_t* rows = dealt
    cdef uint64_t* into = target
    for bucket in range(buckets):
        n = ends[bucket] - (ends[bucket - 1] if bucket > 0 else 0)
        if ascending_run(rows, n, stride, sorting.compared) == n:   # as where they came in order
            kept = n
            memcpy(into, rows, <size_t> kept * stride * sizeof(uint64_t))
        elif n <= BUCKET_LENGTH:
            kept = sort_in_cache(sorting, rows, into, n)
        elif equal:
            kept = _add_up_equal(sorting, rows, into, n)
        else:
            kept = _deal(sorting, rows, into, n)
            memcpy(into, rows, <size_t> kept * stride * sizeof(uint64_t))
        rows += n * stride
        into += kept * stride
    return (into - target) // stride


# Counts the rows by the bits `mask` of word `word`; True if these come before all others that vary.
cdef bint _count(const uint64_t* words, Py_ssize_t n, int stride, int word, uint64_t mask,
                 Py_ssize_t* counts) noexcept nogil:
    cdef uint64_t varying = 0, before = 0
    cdef const uint64_t* row = words
    cdef Py_ssize_t i
    cdef int w
    memset(counts, 0, (<Py_ssize_t> 1 << popcount(mask)) * sizeof(Py_ssize_t))
    for i in range(n):
        for w in range(word):
            before |= row[w] ^ words[w]
        varying |= row[word] ^ words[word]
        counts[extract_bits(row[word], mask)] += 1
        row += stride
    return are_leading(mask, varying, before)


cdef bint are_leading(uint64_t mask, uint64_t varying, uint64_t before) noexcept nogil:
    varying &= ~mask
    return before == 0 and (varying == 0 or varying < (mask & (0 - mask)))


# Moves the rows to `target`, ordered by their pattern of bits, of which the counts are known; writes the end
# of each pattern's rows.
cdef void _deal_out(const uint64_t* words, uint64_t* target, Py_ssize_t n, int stride, int word,
                    uint64_t mask, Py_ssize_t* ends) noexcept nogil:
    cdef Py_ssize_t i, total = 0, count
    cdef const uint64_t* row = words
    cdef uint64_t bucket
    for i in range(<Py_ssize_t> 1 << popcount(mask)):
        count = ends[i]
        ends[i] = total
        total += count
    for i in range(n):
        if i + AHEAD < n:
            bucket = extract_bits(row[AHEAD * stride + word], mask)
            prefetch_to_write(target + ends[bucket] * stride, 1)
        bucket = extract_bits(row[word], mask)
        copy_update(target + ends[bucket] * stride, row, stride)
        ends[bucket] += 1
        row += stride


# Consolidates rows that all agree, time included: their sum is one row, or none.
cdef Py_ssize_t _add_up_equal(const Sorting* sorting, const uint64_t* rows, uint64_t* target,
                              Py_ssize_t n) noexcept nogil:
    cdef int stride = sorting.stride
    cdef Py_ssize_t i
    cdef uint64_t total = 0
    for i in range(n):
        add_to(&total, rows[i * stride + stride - 1])
    memcpy(target, rows, stride * sizeof(uint64_t))
    target[stride - 1] = total
    return 1 if total != 0 else 0
