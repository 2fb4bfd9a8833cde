"""Sorting and consolidation of updates.

Most bits of a batch's rows are the same in every row. The varying ones are packed, in order, into
one 64-bit prefix; (prefix, index) pairs are radix-sorted, and each row is moved once. Only where
rows vary in more than 64 bits are runs of equal prefixes compared word by word.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ivm.rows.pages cimport want_huge_pages
from ivm.rows.updates cimport Updates
from ivm.trace.times cimport compare_words

cdef extern from "sort.hpp" namespace "ivm":
    cdef cppclass Entry:
        uint64_t prefix
        uint64_t index
    uint64_t extract_bits(uint64_t word, uint64_t mask) noexcept nogil
    void sort_by_prefix(Entry* entries, int64_t n) noexcept nogil
    void sort_by_words(Entry* entries, int64_t n, const uint64_t* words, int stride,
                       int first, int last) noexcept nogil

cdef extern from *:
    int popcount "__builtin_popcountll"(unsigned long long) noexcept nogil

cdef enum:
    INSERTION_LENGTH = 24    # below, moving rows in place beats any set-up
    RADIX_LENGTH = 600       # above, counting passes beat comparisons
    DIGIT_BITS = 11          # 2,048 counters stay in the first-level cache
    MAX_WORDS = 256          # a row's words; `ivm.rows` refuses wider schemas


cdef int consolidate(Updates* updates) noexcept nogil:
    cdef int compared = updates.row_words + updates.time_words
    if updates.length < INSERTION_LENGTH:
        _insertion_sort(updates, compared)
        _add_up_in_place(updates, compared)
        return 0
    if _is_strictly_ascending(updates, compared):
        return 0
    return _sort_through_prefixes(updates, compared)


cdef void _insertion_sort(Updates* updates, int compared) noexcept nogil:
    cdef int stride = updates.stride
    cdef uint64_t held[MAX_WORDS]
    cdef Py_ssize_t i, j
    cdef size_t bytes = stride * sizeof(uint64_t)
    for i in range(1, updates.length):
        if compare_words(updates.words + (i - 1) * stride, updates.words + i * stride, compared) <= 0:
            continue
        memcpy(held, updates.words + i * stride, bytes)
        j = i
        while j > 0 and compare_words(updates.words + (j - 1) * stride, held, compared) > 0:
            memcpy(updates.words + j * stride, updates.words + (j - 1) * stride, bytes)
            j -= 1
        memcpy(updates.words + j * stride, held, bytes)


cdef void _add_up_in_place(Updates* updates, int compared) noexcept nogil:
    cdef int stride = updates.stride, diff = updates.stride - 1
    cdef Py_ssize_t i = 0, j, kept = 0
    cdef uint64_t total
    while i < updates.length:
        total = updates.words[i * stride + diff]
        j = i + 1
        while j < updates.length and compare_words(
                updates.words + i * stride, updates.words + j * stride, compared) == 0:
            total += updates.words[j * stride + diff]
            j += 1
        if total != 0:
            if kept != i:
                memcpy(updates.words + kept * stride, updates.words + i * stride,
                       stride * sizeof(uint64_t))
            updates.words[kept * stride + diff] = total
            kept += 1
        i = j
    updates.length = kept


# True for updates that need no work: ascending strictly, no diff zero.
cdef bint _is_strictly_ascending(const Updates* updates, int compared) noexcept nogil:
    cdef int stride = updates.stride
    cdef Py_ssize_t i
    if updates.words[stride - 1] == 0:
        return False
    for i in range(1, updates.length):
        if updates.words[i * stride + stride - 1] == 0 or compare_words(
                updates.words + (i - 1) * stride, updates.words + i * stride, compared) >= 0:
            return False
    return True


# Per word the bits that differ between any two rows.
cdef void _varying_bits(const Updates* updates, int compared, uint64_t* masks) noexcept nogil:
    cdef Py_ssize_t i
    cdef int w
    cdef const uint64_t* row
    memset(masks, 0, compared * sizeof(uint64_t))
    for i in range(1, updates.length):
        row = updates.words + i * updates.stride
        for w in range(compared):
            masks[w] |= row[w] ^ updates.words[w]


cdef int _sort_through_prefixes(Updates* updates, int compared) noexcept nogil:
    cdef uint64_t masks[MAX_WORDS]
    cdef Py_ssize_t n = updates.length, i
    cdef int bits = 0, width, w, packed = 0, cut = 0
    cdef const uint64_t* row
    cdef uint64_t prefix, leading
    cdef Entry* entries = <Entry*> malloc(2 * n * sizeof(Entry))
    if entries == NULL:
        return -1
    want_huge_pages(entries, 2 * n * sizeof(Entry))
    _varying_bits(updates, compared, masks)
    while packed < compared and bits + popcount(masks[packed]) <= 64:
        bits += popcount(masks[packed])
        packed += 1
    if packed < compared:
        cut = 64 - bits          # leading bits of the first word that does not fit whole
    for i in range(n):
        row = updates.words + i * updates.stride
        prefix = 0
        for w in range(packed):
            if masks[w] != 0:
                width = popcount(masks[w])
                prefix = extract_bits(row[w], masks[w]) if width == 64 else (
                    (prefix << width) | extract_bits(row[w], masks[w]))
        if cut > 0:
            leading = extract_bits(row[packed], masks[packed]) >> (popcount(masks[packed]) - cut)
            prefix = leading if cut == 64 else (prefix << cut) | leading
        entries[i].prefix = prefix
        entries[i].index = i
    _sort_entries(entries, n, bits + cut)
    if packed < compared:
        _sort_equal_prefixes(entries, n, updates, packed, compared)
    i = _gather(updates, entries, compared)
    free(entries)
    return <int> i


# Sorts entries[0:n]; entries[n:2n] is scratch. Only the low `bits` of a prefix vary.
cdef void _sort_entries(Entry* entries, Py_ssize_t n, int bits) noexcept nogil:
    cdef Py_ssize_t counts[1 << DIGIT_BITS]
    cdef Py_ssize_t i, total, held
    cdef Entry* source = entries
    cdef Entry* target = entries + n
    cdef int shift = 0
    cdef uint64_t digit
    if n < RADIX_LENGTH:
        sort_by_prefix(entries, n)
        return
    while shift < bits:
        memset(counts, 0, sizeof(counts))
        for i in range(n):
            counts[(source[i].prefix >> shift) & ((1 << DIGIT_BITS) - 1)] += 1
        total = 0
        for i in range(1 << DIGIT_BITS):
            held = counts[i]
            counts[i] = total
            total += held
        for i in range(n):
            digit = (source[i].prefix >> shift) & ((1 << DIGIT_BITS) - 1)
            target[counts[digit]] = source[i]
            counts[digit] += 1
        source, target = target, source
        shift += DIGIT_BITS
    if source != entries:
        memcpy(entries, source, n * sizeof(Entry))


cdef void _sort_equal_prefixes(Entry* entries, Py_ssize_t n, const Updates* updates,
                               int first, int compared) noexcept nogil:
    cdef Py_ssize_t i = 0, j
    while i < n:
        j = i + 1
        while j < n and entries[j].prefix == entries[i].prefix:
            j += 1
        if j - i > 1:
            sort_by_words(entries + i, j - i, updates.words, updates.stride, first, compared)
        i = j


# Moves the rows into the order of `entries`, adding up equal ones.
cdef int _gather(Updates* updates, const Entry* entries, int compared) noexcept nogil:
    cdef int stride = updates.stride, diff = updates.stride - 1
    cdef size_t bytes = stride * sizeof(uint64_t)
    cdef Py_ssize_t i = 0, n = updates.length, kept = 0
    cdef uint64_t total
    cdef const uint64_t* row
    cdef uint64_t* words = <uint64_t*> malloc(n * bytes)
    if words == NULL:
        return -1
    want_huge_pages(words, n * bytes)
    while i < n:
        row = updates.words + entries[i].index * stride
        total = row[diff]
        i += 1
        while i < n and entries[i].prefix == entries[i - 1].prefix and compare_words(
                row, updates.words + entries[i].index * stride, compared) == 0:
            total += updates.words[entries[i].index * stride + diff]
            i += 1
        if total != 0:
            memcpy(words + kept * stride, row, bytes)
            words[kept * stride + diff] = total
            kept += 1
    free(updates.words)
    updates.words = words
    updates.length = kept
    updates.capacity = n
    return 0
