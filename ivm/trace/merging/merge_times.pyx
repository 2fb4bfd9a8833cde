"""Merges the dictionaries of times of two batches, with every time advanced.

Each distinct time is advanced once, not each update: an update names an entry of its batch's
dictionary, and the merge maps entries.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy

from ivm.rows.updates cimport Updates, empty_updates, push, release, update_at
from ivm.trace.batch cimport Batch
from ivm.trace.merging.merge_state cimport Merge, Side
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words, join_into


cdef int merge_times(Merge* m, const uint64_t* since, uint64_t* advanced) noexcept nogil:
    cdef int n = m.out.time_words, order
    cdef Py_ssize_t i = 0, j = 0, last_a = m.a.b.time_count, last_b = m.b.b.time_count
    cdef uint64_t* of_b = advanced + last_a * n
    cdef const uint64_t* least
    cdef bint ascend = _advance_times(m.a.b, since, advanced)
    ascend &= _advance_times(m.b.b, since, of_b)
    if not ascend:
        if _sort_times(m, advanced) < 0:
            return -1
    else:
        while i < last_a or j < last_b:
            order = (1 if i == last_a else -1 if j == last_b
                     else compare_words(advanced + i * n, of_b + j * n, n))
            least = advanced + i * n if order <= 0 else of_b + j * n
            memcpy(m.out.times + m.out.time_count * n, least, n * sizeof(uint64_t))
            while i < last_a and compare_words(advanced + i * n, least, n) == 0:
                m.a.mapped[i] = <uint32_t> m.out.time_count
                i += 1
            while j < last_b and compare_words(of_b + j * n, least, n) == 0:
                m.b.mapped[j] = <uint32_t> m.out.time_count
                j += 1
            m.out.time_count += 1
    _settle(&m.a)
    _settle(&m.b)
    return 0


# Advances the times of a batch; True if they still ascend (some may be equal now).
cdef bint _advance_times(const Batch* b, const uint64_t* since, uint64_t* advanced) noexcept nogil:
    cdef int n = b.time_words
    cdef Py_ssize_t i
    cdef bint ascend = True
    memcpy(advanced, b.times, b.time_count * n * sizeof(uint64_t))
    for i in range(b.time_count):
        join_into(advanced + i * n, since, n)
        if i > 0 and compare_words(advanced + (i - 1) * n, advanced + i * n, n) > 0:
            ascend = False
    return ascend


# Merges times that do not ascend any more once they are advanced.
cdef int _sort_times(Merge* m, const uint64_t* advanced) noexcept nogil:
    cdef int n = m.out.time_words
    cdef Py_ssize_t i, last = m.a.b.time_count + m.b.b.time_count, low, high, middle
    cdef uint64_t* entry
    cdef Updates times = empty_updates(0, n)
    for i in range(last):
        entry = push(&times)
        if entry == NULL:
            release(&times)
            return -1
        memcpy(entry, advanced + i * n, n * sizeof(uint64_t))
        entry[n] = 1
    if consolidate(&times) < 0:
        release(&times)
        return -1
    for i in range(last):
        low = 0
        high = times.length
        while low < high:
            middle = (low + high) // 2
            if compare_words(update_at(&times, middle), advanced + i * n, n) < 0:
                low = middle + 1
            else:
                high = middle
        m.a.mapped[i] = <uint32_t> low      # b's entries follow a's
    for i in range(times.length):
        memcpy(m.out.times + i * n, update_at(&times, i), n * sizeof(uint64_t))
    m.out.time_count = times.length
    release(&times)
    return 0


cdef void _settle(Side* side) noexcept nogil:
    cdef Py_ssize_t i
    side.single = side.b.update_start == NULL
    side.steady = True
    if side.b.update_start != NULL:
        for i in range(1, side.b.time_count):
            side.steady &= side.mapped[i - 1] < side.mapped[i]
