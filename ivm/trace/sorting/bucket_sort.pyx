"""Bucket sort: the rows of a bucket are sorted within the second-level cache.

Most bits are the same in every row. The leading bits that vary are packed, with the row's position, into one
64-bit entry. Entries are radix-sorted by as many bits as tell most rows apart, the few runs that these leave
are sorted by the rest, and each row is moved once. Only where rows vary in more bits than an entry holds are
runs of equal entries compared word by word.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort

from ivm.rows.updates cimport Updates, copy_update
from ivm.trace.counts cimport add_to
from ivm.trace.times cimport compare_words

cdef extern from "sort.hpp" namespace "ivm":
    void sort_by_words(uint64_t* entries, int64_t n, uint64_t position, const uint64_t* words,
                       int stride, int first, int last) noexcept nogil

cdef extern from *:
    int popcount "__builtin_popcountll"(unsigned long long) noexcept nogil
    int leading_zeros "__builtin_clzll"(unsigned long long) noexcept nogil

cdef enum:
    RADIX_LENGTH = 64        # above, counting passes beat insertion into sorted pairs
    SPARE_BITS = 5           # sorted by radix beyond the logarithm of the number of rows


cdef int begin_sorting(Sorting* sorting, int stride, int compared, Py_ssize_t n) noexcept nogil:
    sorting.stride = stride
    sorting.compared = compared
    sorting.entries = <uint64_t*> malloc(
        2 * min(n, <Py_ssize_t> BUCKET_LENGTH) * sizeof(uint64_t))
    return -1 if sorting.entries == NULL else 0


cdef void end_sorting(Sorting* sorting) noexcept nogil:
    free(sorting.entries)


cdef void note_varying_bits(const uint64_t* reference, const uint64_t* words, Py_ssize_t n,
                            int stride, int compared, uint64_t* masks) noexcept nogil:
    # The most frequent widths, as constants.
    if compared == 2:
        _note_first_three(reference, words, n, stride, 2, masks)
    elif compared == 3:
        _note_first_three(reference, words, n, stride, 3, masks)
    else:
        _note_all(reference, words, n, stride, compared, masks)


cdef inline void _note_first_three(const uint64_t* reference, const uint64_t* words, Py_ssize_t n,
                                   int stride, int compared, uint64_t* masks) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t first = 0, second = 0, third = 0
    for i in range(n):
        first |= words[0] ^ reference[0]
        second |= words[1] ^ reference[1]
        if compared == 3:
            third |= words[2] ^ reference[2]
        words += stride
    masks[0] |= first
    masks[1] |= second
    if compared == 3:
        masks[2] |= third


cdef void _note_all(const uint64_t* reference, const uint64_t* words, Py_ssize_t n, int stride,
                    int compared, uint64_t* masks) noexcept nogil:
    cdef Py_ssize_t i
    cdef int w
    for i in range(n):
        for w in range(compared):
            masks[w] |= words[w] ^ reference[w]
        words += stride


cdef Py_ssize_t sort_in_cache(const Sorting* sorting, const uint64_t* rows, uint64_t* target,
                             Py_ssize_t n) noexcept nogil:
    cdef int low
    cdef bint whole = sort_places(sorting, rows, n, &low)
    return _gather(sorting, rows, target, n, low, whole)


cdef bint sort_places(const Sorting* sorting, const uint64_t* rows, Py_ssize_t n,
                       int* bits_of_position) noexcept nogil:
    cdef uint64_t masks[MAX_WORDS]
    cdef int room, bits = 0, packed = 0, compared = sorting.compared
    cdef int low = 1 if n < 2 else 64 - leading_zeros(n - 1)
    bits_of_position[0] = low
    memset(masks, 0, compared * sizeof(uint64_t))
    note_varying_bits(rows, rows, n, sorting.stride, compared, masks)
    while packed < compared and bits + popcount(masks[packed]) <= 64 - low:
        bits += popcount(masks[packed])
        packed += 1
    room = 64 - low - bits
    bits += _pack(sorting.entries, rows, n, sorting.stride, masks, packed,
                  room if packed < compared else 0)
    _sort_entries(sorting.entries, n, low, low + bits)
    if packed < compared:
        _sort_equal_entries(sorting, rows, n, low, packed)
    return packed == compared


# Writes the entries: the varying bits of the first `packed` words, then `room` leading ones of the next word,
# then the position. Returns the number of bits taken of that next word.
cdef int _pack(uint64_t* entries, const uint64_t* rows, Py_ssize_t n, int stride,
               const uint64_t* masks, int packed, int room) noexcept nogil:
    cdef Py_ssize_t i
    cdef int w, width, low = 1 if n < 2 else 64 - leading_zeros(n - 1)
    cdef uint64_t mask
    memset(entries, 0, n * sizeof(uint64_t))
    for w in range(packed):
        width = popcount(masks[w])
        if width > 0:
            mask = masks[w]
            for i in range(n):
                entries[i] = entries[i] << width | extract_bits(rows[i * stride + w], mask)
    if room > 0:
        mask = masks[packed]
        for i in range(popcount(mask) - room):
            mask &= mask - 1
        for i in range(n):
            entries[i] = entries[i] << room | extract_bits(rows[i * stride + packed], mask)
    for i in range(n):
        entries[i] = entries[i] << low | <uint64_t> i
    return room


# Sorts entries[0:n], whose bits [first, last) vary; entries[n:2n] is scratch.
cdef void _sort_entries(uint64_t* entries, Py_ssize_t n, int first, int last) noexcept nogil:
    cdef int wanted = first + SPARE_BITS, shift, width, passes
    cdef uint64_t* source = entries
    cdef uint64_t* target = entries + n
    if n < RADIX_LENGTH:
        _insert_entries(entries, 0, n)
        return
    shift = max(first, last - wanted)       # a position has as many bits as tell n rows apart
    passes = (last - shift + DIGIT_BITS - 1) // DIGIT_BITS
    first = shift
    while passes > 0:
        width = (last - shift + passes - 1) // passes
        _sort_by_digit(source, target, n, shift, width)
        source, target = target, source
        shift += width
        passes -= 1
    if source != entries:
        memcpy(entries, source, n * sizeof(uint64_t))
    _finish_runs(entries, n, first)


cdef void _sort_by_digit(const uint64_t* source, uint64_t* target, Py_ssize_t n, int shift,
                         int width) noexcept nogil:
    cdef uint32_t counts[1 << DIGIT_BITS]
    cdef Py_ssize_t i
    cdef uint32_t total = 0, held
    cdef uint64_t digit, mask = (<uint64_t> 1 << width) - 1
    memset(counts, 0, sizeof(uint32_t) << width)
    for i in range(n):
        counts[(source[i] >> shift) & mask] += 1
    for i in range(<Py_ssize_t> 1 << width):
        held = counts[i]
        counts[i] = total
        total += held
    for i in range(n):
        digit = (source[i] >> shift) & mask
        target[counts[digit]] = source[i]
        counts[digit] += 1


# Sorts each run of entries that agree in all but the low `bits`.
cdef void _finish_runs(uint64_t* entries, Py_ssize_t n, int bits) noexcept nogil:
    cdef Py_ssize_t i = 0, j
    while i < n:
        j = i + 1
        while j < n and entries[j] >> bits == entries[i] >> bits:
            j += 1
        if j - i >= RADIX_LENGTH:
            sort(entries + i, entries + j)
        elif j - i > 1:
            _insert_entries(entries, i, j)
        i = j


cdef void _insert_entries(uint64_t* entries, Py_ssize_t first, Py_ssize_t last) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef uint64_t held
    for i in range(first + 1, last):
        held = entries[i]
        j = i
        while j > first and entries[j - 1] > held:
            entries[j] = entries[j - 1]
            j -= 1
        entries[j] = held


cdef void _sort_equal_entries(const Sorting* sorting, const uint64_t* rows, Py_ssize_t n, int low,
                              int packed) noexcept nogil:
    cdef uint64_t* entries = sorting.entries
    cdef Py_ssize_t i = 0, j
    while i < n:
        j = i + 1
        while j < n and entries[j] >> low == entries[i] >> low:
            j += 1
        if j - i > 1:
            sort_by_words(entries + i, j - i, (<uint64_t> 1 << low) - 1, rows, sorting.stride,
                          packed, sorting.compared)
        i = j


# Moves the rows to `target` in the order of the entries, and consolidates; `whole` says that the entries hold
# all varying bits.
cdef Py_ssize_t _gather(const Sorting* sorting, const uint64_t* rows, uint64_t* target,
                        Py_ssize_t n, int low, bint whole) noexcept nogil:
    cdef int stride = sorting.stride, diff = stride - 1
    cdef const uint64_t* entries = sorting.entries
    cdef uint64_t total, position = (<uint64_t> 1 << low) - 1
    cdef Py_ssize_t i = 0
    cdef const uint64_t* row
    cdef uint64_t* out = target
    while i < n:
        row = rows + (entries[i] & position) * stride
        total = row[diff]
        i += 1
        while i < n and entries[i] >> low == entries[i - 1] >> low and (whole or compare_words(
                row, rows + (entries[i] & position) * stride, sorting.compared) == 0):
            add_to(&total, rows[(entries[i] & position) * stride + diff])
            i += 1
        if total != 0:
            copy_update(out, row, stride)
            out[diff] = total
            out += stride
    return (out - target) // stride


cdef bint gather_distinct(const Sorting* sorting, const uint64_t* rows, uint64_t* target, Py_ssize_t n, int low,
                           bint whole) noexcept nogil:
    cdef int stride = sorting.stride
    cdef const uint64_t* entries = sorting.entries
    cdef uint64_t position = (<uint64_t> 1 << low) - 1
    cdef Py_ssize_t i
    cdef const uint64_t* row
    for i in range(n):
        row = rows + (entries[i] & position) * stride
        if i > 0 and entries[i] >> low == entries[i - 1] >> low and (
                whole or compare_words(row, target - stride, stride) == 0):
            return False
        copy_update(target, row, stride)
        target += stride
    return True


cdef Py_ssize_t gather_counted(const Sorting* sorting, const Updates* rows, uint64_t* target, int low,
                                bint whole) noexcept nogil:
    cdef int stride = sorting.stride
    cdef const uint64_t* entries = sorting.entries
    cdef uint64_t position = (<uint64_t> 1 << low) - 1
    cdef Py_ssize_t i, kept = 0
    cdef const uint64_t* row
    for i in range(rows.length):
        row = rows.words + (entries[i] & position) * stride
        if i > 0 and entries[i] >> low == entries[i - 1] >> low and (
                whole or compare_words(row, target - stride - 2, stride) == 0):
            target[-1] += 1
            continue
        copy_update(target, row, stride)
        target[stride] = rows.time
        target[stride + 1] = 1
        target += stride + 2
        kept += 1
    return kept
