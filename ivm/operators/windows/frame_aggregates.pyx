"""Aggregates over frames: sums that rows join and leave, extremes, and values gathered in order."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.aggregates.collect cimport Gathering
from ivm.operators.aggregates.linear cimport Accumulation
from ivm.operators.aggregates.ordering cimport Candidate
from ivm.operators.windows.frames cimport Frame, Span, same_span
from ivm.operators.windows.functions cimport (
    ONWARD, WHOLE, WindowFunction, cell_at, copy_value, has_null, set_null,
)
from ivm.operators.windows.rows cimport Stretch
from ivm.rows.interner cimport NO_STRING, Interner, compare as compare_contents
from ivm.trace.times cimport compare_words


cdef class FrameSum(WindowFunction):
    """Computes a count, sum or average over `frame`: `logic`, of this one aggregate.

    It is exact, so that values that leave the frame are subtracted again, as are those that it leaves out.
    """

    cdef Accumulation logic
    cdef Frame frame
    cdef int result_words
    cdef vector[uint64_t] state         # of the rows [low, high) of the stretch, and those before it
    cdef vector[uint64_t] empty
    cdef vector[uint64_t] less          # the same without what is left out
    cdef vector[uint64_t] out
    cdef Py_ssize_t low
    cdef Py_ssize_t high

    def __init__(self, Accumulation logic, Frame frame, result):
        self.logic = logic
        self.frame = frame
        self.result = cell_at(result, 1)
        self.result_words = logic.out_words - 1
        self.empty.resize(logic.state_words, 0)
        self.out.resize(logic.out_words)
        self.look_through(frame)
        if self.scope == ONWARD:
            self.state_words = logic.state_words

    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t count) noexcept nogil:
        self.logic.add(state, val, count)

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef vector[Span] spans
        cdef Py_ssize_t i
        self.frame.bounds(s, first, last, &spans)
        self.low = self.high = 0
        self.state.assign(self.empty.begin(), self.empty.end())
        if self.state_words > 0:
            self.state.assign(before, before + self.state_words)
        for i in range(last - first):
            if i == 0 or not same_span(&spans[i], &spans[i - 1]):
                self._sum(s, &spans[i])
            self._write(results + (first + i) * stride)
        return 0

    # Computes the result of a frame that does not begin before the last one.
    cdef int _sum(self, Stretch s, const Span* span) except -1 nogil:
        if span.start >= span.end and not self.frame.open_start:
            self.logic.finish(self.empty.data(), self.out.data())
            return 0
        if span.start >= self.high:
            self.low = self.high = span.start
            if not self.frame.open_start:
                self.state.assign(self.empty.begin(), self.empty.end())
        while self.high < span.end:
            self.logic.add(self.state.data(), s.rows[self.high], 1)
            self.high += 1
        while self.low < span.start:
            self.logic.add(self.state.data(), s.rows[self.low], -1)
            self.low += 1
        if span.low == span.high:
            self.logic.finish(self.state.data(), self.out.data())
            return 0
        self.less.assign(self.state.begin(), self.state.end())
        self._leave_out(s, span)
        self.logic.finish(self.less.data(), self.out.data())
        return 0

    cdef inline void _leave_out(self, Stretch s, const Span* span) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(span.low, span.high):
            if i != span.kept:
                self.logic.add(self.less.data(), s.rows[i], -1)

    cdef inline void _write(self, uint64_t* target) noexcept nogil:
        cdef int at = self.result.null_word if self.result.null_word >= 0 else self.result.word
        if self.out[0] == 0:
            memcpy(target + at, self.out.data() + 1, self.result_words * sizeof(uint64_t))
        elif target[0] == 0:
            target[0] = self.out[0]


cdef class FrameExtreme(WindowFunction):
    """Finds the greatest or least value `argument` in `frame`.

    Rows that a later row of the frame outdoes are dropped, so that the first one left is the answer: of 3, 5,
    4 the greatest is found in 5, 4. Where rows are left out, that is done on both sides of them.
    """

    cdef Frame frame
    cdef bint is_string
    cdef int sign           # 1 for the greatest, -1 for the least
    cdef Interner interner

    def __init__(self, function, Frame frame, argument, is_string, Interner interner, result):
        self.frame = frame
        self.argument = cell_at(argument, 0)
        self.result = cell_at(result, 1)
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

    # The better one of two rows, either of which may be -1.
    cdef inline Py_ssize_t _better(self, Stretch s, Py_ssize_t a, Py_ssize_t b) noexcept nogil:
        if a < 0 or b < 0:
            return max(a, b)
        return b if self._outdone(s.rows[a], s.rows[b]) else a

    # Finds the best row of each frame up to what is left out, or from there on; -1 for none.
    cdef int _sweep(self, Stretch s, const vector[Span]* spans, bint behind,
                    vector[Py_ssize_t]* best) except -1 nogil:
        cdef vector[Py_ssize_t] left
        cdef size_t head = 0, i     # of the rows that are left
        cdef Py_ssize_t start, end, high = 0
        best.clear()
        best.reserve(spans.size())
        for i in range(spans.size()):
            start = spans[0][i].high if behind else spans[0][i].start
            end = spans[0][i].end if behind else spans[0][i].low
            high = max(high, start)
            while high < end:
                if not has_null(&self.argument, s.rows[high]):
                    while head < left.size() and self._outdone(s.rows[left.back()], s.rows[high]):
                        left.pop_back()
                    left.push_back(high)
                high += 1
            while head < left.size() and left[head] < start:
                head += 1
            if head < left.size():
                best.push_back(left[head])
            else:
                best.push_back(-1)
        return 0

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef vector[Span] spans
        cdef vector[Py_ssize_t] best, behind
        cdef Py_ssize_t i, found, kept
        cdef uint64_t* target = results + first * stride
        self.frame.bounds(s, first, last, &spans)
        self._sweep(s, &spans, False, &best)
        if self.frame.excludes:
            self._sweep(s, &spans, True, &behind)
        for i in range(last - first):
            found = best[i]
            if self.frame.excludes:
                kept = spans[i].kept
                if kept >= 0 and has_null(&self.argument, s.rows[kept]):
                    kept = -1
                found = self._better(s, self._better(s, found, kept), behind[i])
            if found < 0:
                set_null(&self.result, target)
            else:
                copy_value(&self.argument, s.rows[found], &self.result, target)
            target += stride
        return 0


cdef class FrameGathering(WindowFunction):
    """Gathers the values of `frame` in the order of its rows: `logic`, a list or a text of them."""

    cdef Gathering logic
    cdef Frame frame

    def __init__(self, Gathering logic, Frame frame, result):
        self.logic = logic
        self.frame = frame
        self.result = cell_at(result, 1)
        self.look_through(frame)
        if self.scope == ONWARD:
            self.scope = WHOLE

    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil:
        cdef vector[Span] spans
        cdef vector[Candidate] rows
        cdef Py_ssize_t i
        cdef uint64_t word = 0
        cdef uint64_t* target = results + first * stride
        self.frame.bounds(s, first, last, &spans)
        for i in range(last - first):
            if i == 0 or not same_span(&spans[i], &spans[i - 1]):
                self._take(s, &spans[i], &rows)
                word = self.logic.gathered(&rows)
                if word == NO_STRING:
                    with gil:
                        raise MemoryError("no memory to gather a frame's values")
            if word == self.logic.too_long:
                if target[0] == 0:
                    target[0] = word
            elif self.logic.members == 0:
                set_null(&self.result, target)
            else:
                target[self.result.word] = word
            target += stride
        return 0

    cdef int _take(self, Stretch s, const Span* span, vector[Candidate]* rows) except -1 nogil:
        cdef Py_ssize_t i
        rows.clear()
        rows.reserve(span.end - span.start)
        for i in range(span.start, span.end):
            if i < span.low or i >= span.high or i == span.kept:
                rows.push_back(Candidate(s.rows[i], 1))
        return 0
