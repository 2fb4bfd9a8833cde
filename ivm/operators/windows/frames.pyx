"""Frames of window functions: by rows, by groups of peers, or by distance in the order.

A row is in a frame by distance if it does not lie before the one end, nor after the other: 5 PRECEDING AND
5 FOLLOWING of the value 20 holds 15 to 25. Of a row whose value is NULL, a distance leads to its peers, as in
PostgreSQL. Of the rows between the ends a frame may leave out the row itself, or its peers with or without it.
"""

from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from ivm.operators.windows.measures cimport Measure, Target
from ivm.operators.windows.rows cimport Stretch, after_peers, first_peer

_MOST = 2**62    # rows or groups that an end can be away


cdef inline int64_t _clamped(int64_t i, int64_t low, int64_t high) noexcept nogil:
    return low if i < low else high if i > high else i


cdef inline Span _span(Py_ssize_t start, Py_ssize_t end) noexcept nogil:
    end = max(start, end)
    return Span(start, end, end, end, -1)


cdef class Frame:
    """The frame `unit` BETWEEN `start` AND `end` without `exclude`, as in `ivm.dataflow.aggregates.Frame`.

    `measure` is that of the two distances of a range, or None.
    """

    def __init__(self, unit, start, end, exclude, Measure measure):
        self.by_rows = unit == "rows"
        self.by_range = measure is not None
        self.open_start = start is None
        self.open_end = end is None
        self.excludes = exclude != "no others"
        self.leaves_group = exclude in ("group", "ties")
        self.keeps_row = exclude == "ties"
        self.asks_peers = not self.by_rows or self.leaves_group
        self.measure = measure
        if measure is None:
            self.start = max(min(start or 0, _MOST), -_MOST)
            self.end = max(min(end or 0, _MOST), -_MOST)

    cdef int bounds(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                    vector[Span]* spans) except -1 nogil:
        cdef Py_ssize_t i
        spans.clear()
        spans.reserve(last - first)
        if self.by_rows:
            self.by_row(s, first, last, spans)
        elif self.by_range:
            self.by_distance(s, first, last, spans)
        else:
            self.by_group(s, first, last, spans)
        if self.excludes:
            for i in range(first, last):
                self.leave_out(s, i, &spans[0][i - first])
        return 0

    cdef int by_row(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                    vector[Span]* spans) except -1 nogil:
        cdef Py_ssize_t i, start, end, n = s.length()
        for i in range(first, last):
            start = 0 if self.open_start else _clamped(i + self.start, 0, n)
            end = n if self.open_end else _clamped(i + self.end + 1, 0, n)
            spans.push_back(_span(start, end))
        return 0

    cdef int by_group(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                      vector[Span]* spans) except -1 nogil:
        cdef Py_ssize_t i, start = 0, end, n = s.groups.size() - 1
        end = n
        for i in range(first, last):
            if not self.open_start:
                start = _clamped(s.group_of[i] + self.start, 0, n)
            if not self.open_end:
                end = _clamped(s.group_of[i] + self.end + 1, 0, n)
            spans.push_back(_span(s.groups[start], s.groups[end]))
        return 0

    cdef int by_distance(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                         vector[Span]* spans) except -1 nogil:
        # An end never goes back, so that rows before may have a say where targets waver.
        cdef Py_ssize_t i = 0 if self.measure.wavers else first_peer(s, first)
        cdef Py_ssize_t n = s.length(), low = 0, high = 0, start, end, after
        cdef Target target
        while i < last:
            after = after_peers(s, i)
            if self.measure.is_null(s.rows[i]):
                start, end = i, after
            else:
                target = self.measure.start_of(s.rows[i])
                while low < n and self.measure.compare(s.rows[low], s.rows[i], &target) < 0:
                    low += 1
                target = self.measure.end_of(s.rows[i])
                while high < n and self.measure.compare(s.rows[high], s.rows[i], &target) <= 0:
                    high += 1
                start, end = low, high
            while i < after:
                if first <= i < last:
                    spans.push_back(_span(0 if self.open_start else start, n if self.open_end else end))
                i += 1
        return 0

    # Leaves out the row `i`, or its peers.
    cdef void leave_out(self, Stretch s, Py_ssize_t i, Span* span) noexcept nogil:
        cdef Py_ssize_t low = first_peer(s, i) if self.leaves_group else i
        cdef Py_ssize_t high = after_peers(s, i) if self.leaves_group else i + 1
        if self.keeps_row and span.start <= i < span.end:
            span.kept = i
        span.low = _clamped(low, span.start, span.end)
        span.high = _clamped(high, span.low, span.end)
