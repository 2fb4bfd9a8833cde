"""Window functions, and those of a row's place: its number, its rank, its share.

A function reads a stretch of its partition that holds everything within its reach. A function that only looks
back (its scope is ONWARD) is given the state of the rows before: their number, or a sum. Values of the
partition's first row come from that row, which is given too.
"""

from libc.stdint cimport int64_t, uint64_t

from ivm.operators.windows.frames cimport Frame
from ivm.operators.windows.rows cimport Stretch, after_peers, first_peer
from ivm.rows.words cimport encode_double, encode_signed

from ivm.dataflow.aggregates import WINDOW_FUNCTIONS as _WINDOW_FUNCTIONS
from ivm.dataflow.aggregates import window_kind
from ivm.dataflow.exhaustive import check_complete

cdef enum Kind:
    ROW_NUMBER
    RANK
    DENSE_RANK
    PERCENT_RANK
    CUME_DIST

_KINDS = {
    "row_number": ROW_NUMBER,
    "rank": RANK,
    "dense_rank": DENSE_RANK,
    "percent_rank": PERCENT_RANK,
    "cume_dist": CUME_DIST,
}
check_complete("the table of row numbers", [*_KINDS, "ntile"],
               {f for f in _WINDOW_FUNCTIONS if window_kind(f) == "number"})


cdef class WindowFunction:
    """One call of a window function."""

    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t count) noexcept nogil:
        pass

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        return 0

    cdef int look_through(self, Frame frame) except -1:
        cdef int64_t ends = 0
        self.asks_peers = frame.asks_peers
        self.scope = WHOLE
        if frame.open_end or (frame.by_range and frame.open_start):
            return 0
        if frame.by_range:
            self.measured = frame.measure
        else:
            ends = max(abs(frame.end), 0 if frame.open_start else abs(frame.start))
        if frame.by_rows:
            self.reach = ends
        else:
            self.reach_groups = ends
        self.scope = ONWARD if frame.open_start else NEAR
        return 0


cdef class Numbering(WindowFunction):
    """Numbers rows by `function`, a "number" of `window_kind` but for `ntile`."""

    cdef Kind kind

    def __init__(self, function, result):
        self.kind = _KINDS[function]
        self.result = cell_at(result, 1)
        self.asks_peers = self.kind != ROW_NUMBER
        self.scope = ONWARD if self.kind <= DENSE_RANK else WHOLE

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef Py_ssize_t i
        cdef uint64_t* target = results + first * stride + self.result.word
        for i in range(first, last):
            if self.kind == PERCENT_RANK:
                target[0] = encode_double(
                    <double> first_peer(s, i) / (s.length() - 1) if s.length() > 1 else 0.0)
            elif self.kind == CUME_DIST:
                target[0] = encode_double(<double> after_peers(s, i) / s.length())
            else:
                target[0] = encode_signed(self._number_of(s, i))
            target += stride
        return 0

    cdef inline int64_t _number_of(self, Stretch s, Py_ssize_t i) noexcept nogil:
        if self.kind == ROW_NUMBER:
            return s.rows_before + i + 1
        if self.kind == RANK:
            return s.rows_before + first_peer(s, i) + 1
        return s.groups_before + s.group_of[i] + 1


cdef class Buckets(WindowFunction):
    """Numbers `count` buckets of rows as equal in size as can be: ntile.

    Where the number is the column `varies` at, it is that of the partition's first row that has one, with
    which the first bucket begins; the rows before it have no number. Below 1 it is the error `invalid`.
    """

    cdef Number count
    cdef uint64_t invalid

    def __init__(self, count, varies, uint64_t invalid, result):
        self.count = number_of(count, varies)
        self.invalid = invalid
        self.result = cell_at(result, 1)
        self.scope = WHOLE

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef Py_ssize_t i, begun = 0
        cdef int64_t buckets = 0
        cdef uint64_t* target = results + first * stride
        while begun < s.length() and not read_number(&self.count, s.rows[begun], &buckets):
            begun += 1
        for i in range(first, last):
            if i < begun:
                set_null(&self.result, target)
            elif buckets >= 1:
                target[self.result.word] = encode_signed(_bucket(i - begun, s.length(), buckets))
            elif target[0] == 0:
                target[0] = self.invalid
            target += stride
        return 0


# The bucket of row `i` of `rows`: the first `larger` buckets have one row more than `size`.
cdef inline int64_t _bucket(int64_t i, int64_t rows, int64_t buckets) noexcept nogil:
    cdef int64_t size = rows // buckets, larger = rows % buckets
    if i < larger * (size + 1):
        return i // (size + 1) + 1
    return larger + (i - larger * (size + 1)) // size + 1
