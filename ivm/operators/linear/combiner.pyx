"""The combiner puts few updates in the place of many, which add up to the same counts and sums.

Of rows that agree but for columns that are only summed, two say as much as all. For a key k with values v and
diffs d, and sums D of d and S of d*v:

    (k, S) with diff 1, and (k, 0) with diff D - 1

have the same count D and the same sum S; so that of a key which many rows share little travels
(`ivm.operators.linear.scatter`). Of rows without such a column the diffs add up. A column that is NULL stays so.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.rows.hashing cimport FACTOR, SEED, fold
from ivm.rows.updates cimport Updates, empty_like, push, release, reserve, update_at
from ivm.rows.words cimport decode_decimal, decode_signed, encode_decimal, encode_signed, int128_t

cdef extern from * nogil:
    bint add_overflows "__builtin_add_overflow"(int128_t a, int128_t b, int128_t* sum)
    bint multiply_overflows "__builtin_mul_overflow"(int128_t a, int128_t b, int128_t* product)

cdef enum:
    FEWEST = 8          # updates for which it is worth the trouble,
    SAMPLED = 1 << 10   # and so many of them tell whether
    WORTH = 4           # at least so many are to become one, which is two

cdef int128_t ONE_WORD = (<int128_t> 1) << 63


cdef int combine(Updates* updates, const vector[Summed]* summed) except -1 nogil:
    cdef vector[Py_ssize_t] slots           # the group of a hash, or -1
    cdef vector[Py_ssize_t] firsts          # the first update of each group,
    cdef vector[int128_t] totals            # its diff, and then its sums
    cdef size_t wide = 1 + summed.size(), mask = 1, at, s
    cdef Py_ssize_t i
    cdef const uint64_t* update
    cdef int128_t diff, part
    if updates.length < FEWEST:
        return 0
    while mask < 2 * <size_t> updates.length:
        mask *= 2
    slots.assign(mask, -1)
    mask -= 1
    for i in range(updates.length):
        if i == SAMPLED and WORTH * firsts.size() > SAMPLED:
            return 0
        update = update_at(updates, i)
        at = _hash(update, updates.stride - 1, summed) & mask
        while slots[at] >= 0 and not _agree(
                update, update_at(updates, firsts[slots[at]]), updates.stride - 1, summed):
            at = (at + 1) & mask
        if slots[at] < 0:
            slots[at] = <Py_ssize_t> firsts.size()
            firsts.push_back(i)
            totals.resize(totals.size() + wide, 0)
        diff = <int64_t> update[updates.stride - 1]
        at = <size_t> slots[at] * wide
        totals[at] += diff
        for s in range(summed.size()):
            if (multiply_overflows(_value(update, &summed[0][s]), diff, &part)
                    or add_overflows(totals[at + 1 + s], part, &totals[at + 1 + s])):
                return 0
    if WORTH * <Py_ssize_t> firsts.size() > updates.length or not _fit(&totals, wide, summed):
        return 0
    return _put_in_place(updates, &firsts, &totals, summed)


# Whether all sums are values of their columns' words, and all counts are diffs.
cdef bint _fit(const vector[int128_t]* totals, size_t wide, const vector[Summed]* summed) noexcept nogil:
    cdef size_t i
    for i in range(totals.size()):
        if i % wide > 0 and summed[0][i % wide - 1].words == 2:
            continue
        # One less than a count is a diff as well.
        if totals[0][i] <= -ONE_WORD or totals[0][i] >= ONE_WORD:
            return False
    return True


cdef int _put_in_place(Updates* updates, const vector[Py_ssize_t]* firsts, const vector[int128_t]* totals,
                       const vector[Summed]* summed) except -1 nogil:
    cdef Updates made = empty_like(updates)
    cdef size_t group, s, wide = 1 + summed.size()
    cdef uint64_t* update
    cdef int64_t count
    cdef bint has_sums
    if reserve(&made, 2 * <Py_ssize_t> firsts.size()) < 0:
        with gil:
            raise MemoryError("no memory to add up updates")
    for group in range(firsts.size()):
        count = <int64_t> totals[0][group * wide]
        has_sums = False
        for s in range(summed.size()):
            has_sums |= totals[0][group * wide + 1 + s] != 0
        if has_sums:
            update = push(&made)
            memcpy(update, update_at(updates, firsts[0][group]), updates.stride * sizeof(uint64_t))
            for s in range(summed.size()):
                _set(update, &summed[0][s], totals[0][group * wide + 1 + s])
            update[updates.stride - 1] = 1
            count -= 1
        if count != 0:
            update = push(&made)
            memcpy(update, update_at(updates, firsts[0][group]), updates.stride * sizeof(uint64_t))
            for s in range(summed.size()):
                _set(update, &summed[0][s], 0)
            update[updates.stride - 1] = <uint64_t> count
    release(updates)
    updates[0] = made
    return 0


cdef inline bint _is_null(const uint64_t* update, const Summed* column) noexcept nogil:
    return column.null_word >= 0 and update[column.null_word] >> column.null_bit & 1


# The value to be added; 0 for NULL.
cdef inline int128_t _value(const uint64_t* update, const Summed* column) noexcept nogil:
    if _is_null(update, column):
        return 0
    if column.words == 2:
        return decode_decimal(update + column.word)
    return decode_signed(update[column.word])


cdef inline void _set(uint64_t* update, const Summed* column, int128_t value) noexcept nogil:
    if _is_null(update, column):
        return
    if column.words == 2:
        encode_decimal(value, update + column.word)
    else:
        update[column.word] = encode_signed(<int64_t> value)


# The next word from `w` on that is no summed column's; these are in the order of their words, from `s` on.
cdef inline int _compared(int w, size_t* s, const vector[Summed]* summed) noexcept nogil:
    while s[0] < summed.size() and summed[0][s[0]].word == w:
        w += summed[0][s[0]].words
        s[0] += 1
    return w


# Of a row's other columns, and of its time.
cdef uint64_t _hash(const uint64_t* update, int words, const vector[Summed]* summed) noexcept nogil:
    cdef uint64_t hash = SEED
    cdef size_t s = 0
    cdef int w = _compared(0, &s, summed)
    while w < words:
        hash = fold(hash ^ update[w], FACTOR)
        w = _compared(w + 1, &s, summed)
    return hash


cdef bint _agree(const uint64_t* a, const uint64_t* b, int words, const vector[Summed]* summed) noexcept nogil:
    cdef size_t s = 0
    cdef int w = _compared(0, &s, summed)
    while w < words:
        if a[w] != b[w]:
            return False
        w = _compared(w + 1, &s, summed)
    return True
