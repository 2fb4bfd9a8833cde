"""Window functions that take the value of another row: of a neighbour, or of a place in the frame."""

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.windows.frames cimport Frame, Span
from ivm.operators.windows.functions cimport (
    NEAR, ONWARD, WHOLE, Cell, Number, WindowFunction, cell_at, copy_value, has_null, number_of, read_number,
    set_null,
)
from ivm.operators.windows.rows cimport Stretch

from ivm.dataflow.aggregates import WINDOW_FUNCTIONS as _WINDOW_FUNCTIONS
from ivm.dataflow.aggregates import window_kind
from ivm.dataflow.exhaustive import check_complete

cdef enum Pick:
    FIRST_VALUE
    LAST_VALUE
    NTH_VALUE

cdef int64_t FARTHEST = <int64_t> 1 << 40      # rows: no partition has as many

_PICKS = {"first_value": FIRST_VALUE, "last_value": LAST_VALUE, "nth_value": NTH_VALUE}
check_complete("the table of frame values", _PICKS,
               {f for f in _WINDOW_FUNCTIONS if window_kind(f) == "pick"})


cdef class _Picked(WindowFunction):
    """Takes the value `argument` of one of the rows that count: all, or those where it is not NULL."""

    cdef bint skips_nulls
    cdef vector[Py_ssize_t] counting    # where it skips: the rows that count
    cdef vector[Py_ssize_t] before      # and the number of them before each row, and in all

    # Finds the rows that count.
    cdef int find_counting(self, Stretch s) except -1 nogil:
        cdef Py_ssize_t i
        if not self.skips_nulls:
            return 0
        self.counting.clear()
        self.before.clear()
        for i in range(s.length()):
            self.before.push_back(self.counting.size())
            if not has_null(&self.argument, s.rows[i]):
                self.counting.push_back(i)
        self.before.push_back(self.counting.size())
        return 0

    # The number of rows that count among those before `i`.
    cdef inline Py_ssize_t count_before(self, Py_ssize_t i) noexcept nogil:
        return self.before[i] if self.skips_nulls else i

    # The row that counts as the n-th from 0.
    cdef inline Py_ssize_t counted(self, Py_ssize_t n) noexcept nogil:
        return self.counting[n] if self.skips_nulls else n


cdef class Neighbour(_Picked):
    """Takes the value so many rows that count `ahead` (or back, if negative) of a row.

    The number is `ahead` or, times `ahead`, that in the column `varies` of the row, where NULL gives NULL.
    Where there is no such row, the value is that of `default` in the row itself, if any.
    """

    cdef Number away
    cdef int64_t ahead
    cdef Cell default
    cdef bint has_default

    def __init__(self, ahead, varies, skips_nulls, argument, default, result):
        self.away = number_of(1, varies)
        self.ahead = ahead
        self.skips_nulls = skips_nulls
        self.argument = cell_at(argument, 0)
        self.has_default = default is not None
        if default is not None:
            self.default = cell_at(default, 0)
        self.result = cell_at(result, 1)
        self.scope = WHOLE if self.away.varies else NEAR
        if skips_nulls:
            self.reach_values = abs(ahead)
        else:
            self.reach = abs(ahead)

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef Py_ssize_t i, there
        cdef int64_t away
        cdef uint64_t* target = results + first * stride
        self.find_counting(s)
        for i in range(first, last):
            if not read_number(&self.away, s.rows[i], &away):
                set_null(&self.result, target)
            else:
                there = self._place(s, i, max(min(away, FARTHEST), -FARTHEST))
                if there >= 0:
                    copy_value(&self.argument, s.rows[there], &self.result, target)
                elif self.has_default:
                    copy_value(&self.default, s.rows[i], &self.result, target)
                else:
                    set_null(&self.result, target)
            target += stride
        return 0

    # The row `away` times `ahead` from row `i`, or -1.
    cdef inline Py_ssize_t _place(self, Stretch s, Py_ssize_t i, int64_t away) noexcept nogil:
        cdef int64_t steps = away * self.ahead, n
        if steps == 0:
            return i
        n = self.count_before(i) + steps
        if steps > 0:
            n = self.count_before(i + 1) + steps - 1
        return self.counted(n) if 0 <= n < self.count_before(s.length()) else -1


cdef class FrameValue(_Picked):
    """Takes the value of the first, last or `count`-th row of `frame` that counts.

    The number is `count`, or that in the column `varies` of the row; below 1 it is the error `invalid`.
    """

    cdef Pick pick
    cdef Number count
    cdef Frame frame
    cdef uint64_t invalid

    def __init__(self, function, count, varies, skips_nulls, Frame frame, argument, uint64_t invalid, result):
        self.pick = _PICKS[function]
        self.count = number_of(count, varies)
        self.skips_nulls = skips_nulls
        self.frame = frame
        self.invalid = invalid
        self.argument = cell_at(argument, 0)
        self.result = cell_at(result, 1)
        self.look_through(frame)
        if skips_nulls and self._finds_nearest():
            self.scope = NEAR
            self.reach_values = 1
        elif self.scope == ONWARD:
            plain = self.pick != NTH_VALUE and not skips_nulls and not frame.excludes
            self.scope = NEAR if plain else WHOLE
            self.asks_head = plain and self.pick == FIRST_VALUE

    # True if it finds the nearest row that counts, from the row itself or its peers up or down.
    cdef bint _finds_nearest(self):
        cdef Frame frame = self.frame
        if frame.by_range or frame.excludes:
            return False
        if self.pick == LAST_VALUE:
            return frame.open_start and not frame.open_end and frame.end == 0
        return self.pick == FIRST_VALUE and frame.open_end and not frame.open_start and frame.start == 0

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef vector[Span] spans
        cdef Py_ssize_t i, at
        cdef int64_t count
        cdef const uint64_t* val
        cdef uint64_t* target = results + first * stride
        self.find_counting(s)
        self.frame.bounds(s, first, last, &spans)
        for i in range(last - first):
            at = -1
            if read_number(&self.count, s.rows[first + i], &count):
                if count < 1 and target[0] == 0:
                    target[0] = self.invalid
                at = self._place(&spans[i], count - 1)
            if at >= 0:
                val = s.rows[at]
                if self.asks_head and s.head != NULL:
                    val = s.head
                copy_value(&self.argument, val, &self.result, target)
            else:
                set_null(&self.result, target)
            target += stride
        return 0

    # The row of a frame that is asked for, the n-th or the first or last, or -1.
    cdef inline Py_ssize_t _place(self, const Span* span, int64_t n) noexcept nogil:
        cdef Py_ssize_t left = self._count(span.start, span.low)
        cdef Py_ssize_t kept = self._count(span.kept, span.kept + 1) if span.kept >= 0 else 0
        cdef Py_ssize_t right = self._count(span.high, span.end)
        if self.pick == FIRST_VALUE:
            n = 0
        elif self.pick == LAST_VALUE:
            n = left + kept + right - 1
        if n < 0 or n >= left + kept + right:
            return -1
        if n < left:
            return self.counted(self.count_before(span.start) + n)
        if n < left + kept:
            return span.kept
        return self.counted(self.count_before(span.high) + n - left - kept)

    # The number of rows that count from `start` to `end`.
    cdef inline Py_ssize_t _count(self, Py_ssize_t start, Py_ssize_t end) noexcept nogil:
        return self.count_before(end) - self.count_before(start)
