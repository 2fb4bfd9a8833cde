"""Window functions: numbers of rows, values of neighbours, and values and sums of frames.

A function reads a stretch of its partition that holds everything within its reach. A function that only looks
back (its scope is ONWARD) is given the state of the rows before: their number, or a sum. Values of the
partition's first row come from that row, which is given too.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.aggregates.linear cimport Accumulation
from ivm.operators.windows.frames cimport Frame
from ivm.operators.windows.rows cimport Stretch, after_peers, first_peer
from ivm.rows.interner cimport Interner, compare as compare_contents
from ivm.rows.words cimport encode_double, encode_signed
from ivm.trace.times cimport compare_words

from ivm.dataflow.aggregates import WINDOW_FUNCTIONS as _WINDOW_FUNCTIONS
from ivm.dataflow.aggregates import window_kind
from ivm.dataflow.exhaustive import check_complete

cdef enum Number:
    ROW_NUMBER
    RANK
    DENSE_RANK
    PERCENT_RANK
    CUME_DIST
    NTILE

cdef enum Pick:
    FIRST_VALUE
    LAST_VALUE
    NTH_VALUE

_NUMBERS = {
    "row_number": ROW_NUMBER,
    "rank": RANK,
    "dense_rank": DENSE_RANK,
    "percent_rank": PERCENT_RANK,
    "cume_dist": CUME_DIST,
    "ntile": NTILE,
}
_PICKS = {"first_value": FIRST_VALUE, "last_value": LAST_VALUE, "nth_value": NTH_VALUE}
check_complete("the table of row numbers", _NUMBERS,
               {f for f in _WINDOW_FUNCTIONS if window_kind(f) == "number"})
check_complete("the table of frame values", _PICKS,
               {f for f in _WINDOW_FUNCTIONS if window_kind(f) == "pick"})


cdef Cell _cell(place, int offset):
    """Locates a column's words; results lie behind `offset` words."""
    return Cell(place.null_word + offset if place.null_word >= 0 else -1, place.word + offset,
                place.words)


cdef inline void _set_null(const Cell* to, uint64_t* target) noexcept nogil:
    if to.null_word >= 0:
        target[to.null_word] = 1


# Copies a value. The words of a NULL may hold anything.
cdef inline void _copy(const Cell* given, const uint64_t* val, const Cell* to,
                       uint64_t* target) noexcept nogil:
    if given.null_word >= 0 and val[given.null_word] != 0:
        _set_null(to, target)
    else:
        memcpy(target + to.word, val + given.word, given.words * sizeof(uint64_t))


cdef class WindowFunction:
    """One call of a window function."""

    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t count) noexcept nogil:
        pass

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        return 0

    cdef int look_through(self, Frame frame) except -1:
        cdef int64_t ends = 0
        self.asks_peers = not frame.by_rows
        self.scope = WHOLE
        if frame.open_end or (frame.by_range and frame.open_start):
            return 0
        if frame.by_range:
            self.measured = frame
        else:
            ends = max(abs(frame.end), 0 if frame.open_start else abs(frame.start))
        if frame.by_rows:
            self.reach = ends
        else:
            self.reach_groups = ends
        self.scope = ONWARD if frame.open_start else NEAR
        return 0


cdef class Numbering(WindowFunction):
    """Numbers rows by `function`, a "number" of `window_kind`; `count` buckets of ntile."""

    cdef Number number
    cdef int64_t count

    def __init__(self, function, count, result):
        self.number = _NUMBERS[function]
        self.count = count
        self.result = _cell(result, 1)
        self.asks_peers = self.number != ROW_NUMBER and self.number != NTILE
        self.scope = ONWARD if self.number <= DENSE_RANK else WHOLE

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef Py_ssize_t i
        cdef uint64_t* target = results + first * stride + self.result.word
        for i in range(first, last):
            if self.number == PERCENT_RANK:
                target[0] = encode_double(
                    <double> first_peer(s, i) / (s.length() - 1) if s.length() > 1 else 0.0)
            elif self.number == CUME_DIST:
                target[0] = encode_double(<double> after_peers(s, i) / s.length())
            else:
                target[0] = encode_signed(self._number_of(s, i))
            target += stride
        return 0

    cdef inline int64_t _number_of(self, Stretch s, Py_ssize_t i) noexcept nogil:
        cdef int64_t size, larger
        if self.number == ROW_NUMBER:
            return s.rows_before + i + 1
        if self.number == RANK:
            return s.rows_before + first_peer(s, i) + 1
        if self.number == DENSE_RANK:
            return s.groups_before + s.group_of[i] + 1
        # The first `larger` buckets have one row more than `size`.
        size, larger = s.length() // self.count, s.length() % self.count
        if i < larger * (size + 1):
            return i // (size + 1) + 1
        return larger + (i - larger * (size + 1)) // size + 1


cdef class Neighbour(WindowFunction):
    """Takes the value `argument` so many rows `ahead` (or back, if negative) of a row.

    Where there is no such row, it is that of `default` in the row itself, if any.
    """

    cdef int64_t ahead
    cdef Cell argument
    cdef Cell default
    cdef bint has_default

    def __init__(self, ahead, argument, default, result):
        self.ahead = ahead
        self.argument = _cell(argument, 0)
        self.has_default = default is not None
        if default is not None:
            self.default = _cell(default, 0)
        self.result = _cell(result, 1)
        self.scope = NEAR
        self.reach = abs(ahead)

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef Py_ssize_t i
        cdef int64_t there
        cdef uint64_t* target = results + first * stride
        for i in range(first, last):
            there = i + self.ahead
            if 0 <= there < s.length():
                _copy(&self.argument, s.rows[there], &self.result, target)
            elif self.has_default:
                _copy(&self.default, s.rows[i], &self.result, target)
            else:
                _set_null(&self.result, target)
            target += stride
        return 0


cdef class FrameValue(WindowFunction):
    """Takes the value `argument` of the first, last or `count`-th row of `frame`."""

    cdef Pick pick
    cdef int64_t count
    cdef Frame frame
    cdef Cell argument

    def __init__(self, function, count, frame, argument, result):
        self.pick = _PICKS[function]
        self.count = count
        self.frame = frame
        self.argument = _cell(argument, 0)
        self.result = _cell(result, 1)
        self.look_through(frame)
        if self.scope == ONWARD:
            self.scope = WHOLE if self.pick == NTH_VALUE else NEAR
            self.asks_head = self.pick == FIRST_VALUE

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef vector[Py_ssize_t] starts, ends
        cdef Py_ssize_t i, at
        cdef const uint64_t* val
        cdef uint64_t* target = results + first * stride
        self.frame.bounds(s, first, last, &starts, &ends)
        for i in range(last - first):
            at = starts[i]
            if self.pick == LAST_VALUE:
                at = ends[i] - 1
            elif self.pick == NTH_VALUE:
                at = starts[i] + self.count - 1
            if starts[i] <= at < ends[i]:
                val = s.rows[at]
                if self.asks_head and s.head != NULL:
                    val = s.head
                _copy(&self.argument, val, &self.result, target)
            else:
                _set_null(&self.result, target)
            target += stride
        return 0


cdef class FrameSum(WindowFunction):
    """Computes a count, sum or average over `frame`: `logic`, of this one aggregate.

    It is exact, so that values that leave the frame are subtracted again.
    """

    cdef Accumulation logic
    cdef Frame frame
    cdef int result_words

    def __init__(self, logic, frame, result):
        self.logic = logic
        self.frame = frame
        self.result = _cell(result, 1)
        self.result_words = self.logic.out_words - 1
        self.look_through(frame)
        if self.scope == ONWARD:
            self.state_words = self.logic.state_words

    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t count) noexcept nogil:
        self.logic.add(state, val, count)

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef vector[Py_ssize_t] starts, ends
        cdef vector[uint64_t] state, empty, out
        cdef Py_ssize_t i, low = 0, high = 0
        self.frame.bounds(s, first, last, &starts, &ends)
        empty.resize(self.logic.state_words, 0)
        out.resize(self.logic.out_words)
        if self.state_words > 0:
            state.assign(before, before + self.state_words)
        else:
            state.assign(empty.begin(), empty.end())
        for i in range(last - first):
            if i == 0 or starts[i] != starts[i - 1] or ends[i] != ends[i - 1]:
                if starts[i] >= ends[i] and not self.frame.open_start:
                    self.logic.finish(empty.data(), out.data())
                else:
                    if starts[i] >= high:
                        low = high = starts[i]
                        if not self.frame.open_start:
                            state.assign(empty.begin(), empty.end())
                    self._move(s, state.data(), &low, starts[i], &high, ends[i])
                    self.logic.finish(state.data(), out.data())
            self._write(out.data(), results + (first + i) * stride)
        return 0

    # Moves the state's rows [low, high) to the later ones [start, end).
    cdef inline void _move(self, Stretch s, uint64_t* state, Py_ssize_t* low, Py_ssize_t start,
                           Py_ssize_t* high, Py_ssize_t end) noexcept nogil:
        while high[0] < end:
            self.logic.add(state, s.rows[high[0]], 1)
            high[0] += 1
        while low[0] < start:
            self.logic.add(state, s.rows[low[0]], -1)
            low[0] += 1

    cdef inline void _write(self, const uint64_t* out, uint64_t* target) noexcept nogil:
        cdef int at = self.result.null_word if self.result.null_word >= 0 else self.result.word
        if out[0] == 0:
            memcpy(target + at, out + 1, self.result_words * sizeof(uint64_t))
        elif target[0] == 0:
            target[0] = out[0]


cdef class FrameExtreme(WindowFunction):
    """Finds the greatest or least value `argument` in `frame`.

    Rows that a later row of the frame outdoes are dropped, so that the first one left is the answer: of 3, 5,
    4 the greatest is found in 5, 4.
    """

    cdef Frame frame
    cdef Cell argument
    cdef bint is_string
    cdef int sign           # 1 for the greatest, -1 for the least
    cdef Interner interner

    def __init__(self, function, frame, argument, is_string, interner, result):
        self.frame = frame
        self.argument = _cell(argument, 0)
        self.result = _cell(result, 1)
        self.is_string = is_string
        self.sign = 1 if function == "max" else -1
        self.interner = interner
        self.look_through(frame)
        if self.scope == ONWARD:
            self.scope = WHOLE

    cdef inline bint _outdone(self, const uint64_t* old, const uint64_t* new) noexcept nogil:
        cdef int order = 0
        cdef int at = self.argument.word
        if self.is_string:
            order = compare_contents(self.interner.strings, new[at], old[at])
        else:
            order = compare_words(new + at, old + at, self.argument.words)
        return order * self.sign >= 0

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef vector[Py_ssize_t] starts, ends, left
        cdef size_t head = 0    # of the rows that are left
        cdef Py_ssize_t i, high = 0
        cdef uint64_t* target = results + first * stride
        cdef const uint64_t* val
        self.frame.bounds(s, first, last, &starts, &ends)
        for i in range(last - first):
            high = max(high, starts[i])
            while high < ends[i]:
                val = s.rows[high]
                if self.argument.null_word < 0 or val[self.argument.null_word] == 0:
                    while head < left.size() and self._outdone(s.rows[left.back()], val):
                        left.pop_back()
                    left.push_back(high)
                high += 1
            while head < left.size() and left[head] < starts[i]:
                head += 1
            if head == left.size():
                _set_null(&self.result, target)
            else:
                _copy(&self.argument, s.rows[left[head]], &self.result, target)
            target += stride
        return 0
