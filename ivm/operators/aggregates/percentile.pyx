"""Percentiles: the value at a fraction of a group's values (`percentile_cont` and `percentile_disc`).

Of n values that are not NULL, in order from 0, the discrete percentile f is the value at ceil(f n) − 1, and
the continuous one lies at f (n − 1), which may be between two values: of 10, 20, 30, 40 the median is 20, or
25. These are the formulas of PostgreSQL, computed as it does, so that the results are equal to the bit.
"""

from libc.math cimport ceil, floor
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.aggregates.cell cimport Cell, cell_of, is_null, read_cell
from ivm.operators.aggregates.aggregate cimport Logic
from ivm.operators.aggregates.ordering cimport Candidate, Ordering
from ivm.operators.aggregates.order_statistics cimport Ranking
from ivm.rows.updates cimport Updates, push
from ivm.rows.words cimport decode_double, encode_double
from ivm.trace.counts cimport sum_of


cdef class Percentile(Logic):
    """The percentile `fraction` of the one column of `source`, the ordered format of `ordering`.

    NULL comes last. The output is in the same format; `continuous` takes float64 values.
    """

    cdef Cell cell
    cdef double fraction
    cdef bint continuous

    def __init__(self, Ordering ordering, source, double fraction, bint continuous):
        self.ordering = ordering
        self.out_words = ordering.words
        self.wanted = 0
        self.cell = cell_of(source.places[0])
        self.fraction = fraction
        self.continuous = continuous

    cdef bint enough(self, vector[Candidate]* group, int64_t total, const uint64_t* next) noexcept nogil:
        return False

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef int64_t n = 0, first, second
        cdef size_t i
        if group.empty():
            return 0
        self.ordering.sort(group)
        for i in range(group.size()):
            if not is_null(&self.cell, group[0][i].val):
                n = sum_of(n, group[0][i].count)
        if n == 0:
            return self._emit(group.back().val, NULL, 0, result)
        first = self._first(n)
        second = self._second(n)
        return self._emit(_copy(group, first), _copy(group, second), self._share(n), result)

    cdef int apply_ranked(self, Ranking ranking, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef int64_t n = ranking.total()
        cdef Candidate last
        if n == 0:
            return 0
        last = ranking.last()
        if is_null(&self.cell, last.val):
            n -= max(last.count, <int64_t> 0)
            if n == 0:
                return self._emit(last.val, NULL, 0, result)
        return self._emit(
            ranking.at(self._first(n)), ranking.at(self._second(n)), self._share(n), result)

    # The position of the percentile of `n` values, or of the value before it if it lies between two.
    cdef inline int64_t _first(self, int64_t n) noexcept nogil:
        if self.continuous:
            return <int64_t> floor(self.fraction * <double> (n - 1))
        return max(<int64_t> ceil(self.fraction * <double> n) - 1, <int64_t> 0)

    # The position of the value after it, or the same.
    cdef inline int64_t _second(self, int64_t n) noexcept nogil:
        if self.continuous:
            return <int64_t> ceil(self.fraction * <double> (n - 1))
        return self._first(n)

    # The fraction of the way from the first to the second.
    cdef inline double _share(self, int64_t n) noexcept nogil:
        return self.fraction * <double> (n - 1) - <double> self._first(n) if self.continuous else 0

    # Emits `first`, or the value that lies `share` of the way from it to `second`.
    cdef int _emit(self, const uint64_t* first, const uint64_t* second, double share,
                   Updates* result) except -1 nogil:
        cdef uint64_t* update = push(result)
        cdef uint64_t word
        cdef double low, high
        if update == NULL:
            with gil:
                raise MemoryError("no memory for a percentile")
        memcpy(update, first, self.out_words * sizeof(uint64_t))
        if share > 0:
            read_cell(&self.cell, first, &word)
            low = decode_double(word)
            read_cell(&self.cell, second, &word)
            high = decode_double(word)
            update[self.cell.word] = encode_double(low + share * (high - low)) ^ self.cell.flip
        update[result.stride - 1] = 1
        return 0


# Finds the value of the copy at `position`.
cdef const uint64_t* _copy(const vector[Candidate]* group, int64_t position) noexcept nogil:
    cdef size_t i = 0
    while position >= group[0][i].count:
        position -= group[0][i].count
        i += 1
    return group[0][i].val
