# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# distutils: language = c++
"""Reduction in a loop: a group's output at every time at which it can change.

A group's output can change at any least upper bound of its input's times, one of which is new (the
join closure; differential dataflow, CIDR 2013, section 3.2; K-Pg, section 5.3.2). A key that was
touched is evaluated in the round of its change. Then its known history is *looked over*: its later
times are tried, in the order of the sweep, until the output would change if no more input came,
and one reminder is set for that time. More input brings the key back by itself. A change is what
the logic says less what was said before, so that trying more times than the closure has is
harmless, and the grid of all coordinates is tried in its place.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.calendar cimport Calendar
from ivm.operators.curves cimport Curve, Curves, from_sweep, to_sweep
from ivm.operators.logic cimport Candidate, Logic
from ivm.operators.operator cimport Operator, Region, earlier
from ivm.rows.updates cimport Updates, empty_updates, push, release
from ivm.trace.sort cimport consolidate
from ivm.trace.times cimport MAX_COORDINATES, compare_words, less_equal

cdef enum:
    LOOK_AHEAD = 16     # later times that are tried before a reminder is set anyway
    FEW_CHANGES = 16    # below, equal values are found by looking at all


cdef class Reduce(Operator):
    """Key words, then the output words of `logic`, for each group of `source`.

    Rows of `source` are `key_words` words of key and then a value, in the order of which a group is
    handed to `logic`. `strings` are those of a row, as of a Trace.
    """

    cdef Operator source
    cdef Logic logic
    cdef readonly Curves curves
    cdef Calendar calendar          # keys to evaluate, by sweep time
    cdef int key_words
    cdef uint64_t visit             # counts the times that were evaluated
    cdef Updates changes            # what the output lacks at the time being evaluated
    cdef vector[uint32_t] keys      # those of the time being evaluated
    cdef vector[uint32_t] empty     # keys whose histories were seen empty
    cdef vector[Candidate] group
    cdef vector[uint64_t] axes[MAX_COORDINATES]     # a key's coordinates, ascending

    def __init__(self, Region region, int row_words, Operator source, int key_words, Logic logic,
                 tuple strings):
        cdef int values = source.out.row_words - key_words
        self.source = source
        self.logic = logic
        self.key_words = key_words
        self.curves = Curves(key_words, values, logic.out_words, region.depth, strings, logic.selects)
        self.calendar = Calendar(region.depth)
        self.visit = 0
        self.changes = empty_updates(logic.out_words, 0)

    def __dealloc__(self):
        release(&self.changes)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length + (self.calendar.due() if self._is_due() else 0)

    # True if the calendar's earliest time is in the present round.
    cdef bint _is_due(self) noexcept nogil:
        cdef const uint64_t* next = self.calendar.earliest()
        return next != NULL and compare_words(next, self.region.at + 1, self.region.depth - 1) == 0

    cdef bint parked(self, uint64_t* at) noexcept nogil:
        cdef const uint64_t* next = self.calendar.earliest()
        if next == NULL:
            return False
        earlier(at, next - 1, self.region.depth)
        return True

    cdef void abandon(self) noexcept nogil:
        self.out.length = 0
        self.calendar.clear()

    cdef int rest(self) except -1 nogil:
        cdef uint32_t entry
        if self.calendar.earliest() == NULL:
            for entry in self.empty:
                if self.curves.curve(entry).step != 0 and self._is_empty(entry):
                    self.curves.forget(entry)
            self.empty.clear()
        return Operator.rest(self)

    cdef inline bint _is_empty(self, uint32_t entry) noexcept nogil:
        return self.curves.curve(entry).inputs == 0 and self.curves.curve(entry).outputs == 0

    cdef int step(self) except -1 nogil:
        cdef uint64_t time[MAX_COORDINATES]
        self.out.length = 0
        self._take_input()
        while self._is_due():
            memcpy(time, self.calendar.earliest(), self.region.depth * sizeof(uint64_t))
            self.calendar.take(&self.keys)
            self._evaluate_all(time)
        return 0

    # Adds the input to its keys' histories and puts the keys on the calendar.
    cdef int _take_input(self) except -1 nogil:
        cdef Updates* given = &self.source.out
        cdef Py_ssize_t i
        cdef int d, depth = self.region.depth
        cdef uint64_t time[MAX_COORDINATES]
        cdef const uint64_t* update
        cdef uint32_t entry
        cdef Curve* curve
        for i in range(given.length):
            update = given.words + i * given.stride
            entry = self.curves.touch(update, self.region.lower)
            curve = self.curves.curve(entry)
            to_sweep(update + given.row_words, time, depth)
            self.curves.add(curve, True, update + self.key_words, time,
                            <int64_t> update[given.stride - 1])
            for d in range(depth):
                curve.low[d] = min(curve.low[d], time[d])
            self.calendar.add(time, entry)
        return 0

    # Evaluates every one of `keys` at `time`, once.
    cdef int _evaluate_all(self, const uint64_t* time) except -1 nogil:
        cdef uint32_t entry
        cdef Curve* curve
        self.visit += 1
        for entry in self.keys:
            curve = self.curves.curve(entry)
            if curve.visit == self.visit:
                continue
            curve.visit = self.visit
            self._find_changes(curve, time)
            if self.changes.length > 0:
                self._emit(entry, time)
            self._look_ahead(entry, time)
            if curve.inputs == 0 and curve.outputs == 0:
                self.empty.push_back(entry)
        return 0

    # Emits `changes` at `time`, and adds them to the key's output history.
    cdef int _emit(self, uint32_t entry, const uint64_t* time) except -1 nogil:
        cdef Curve* curve = self.curves.curve(entry)
        cdef Py_ssize_t i
        cdef int words = self.logic.out_words
        cdef const uint64_t* change
        cdef uint64_t* update
        for i in range(self.changes.length):
            change = self.changes.words + i * self.changes.stride
            self.curves.add(curve, False, change, time, <int64_t> change[words])
            update = push(&self.out)
            if update == NULL:
                self._no_memory()
            memcpy(update, self.curves.key(entry), self.key_words * sizeof(uint64_t))
            memcpy(update + self.key_words, change, words * sizeof(uint64_t))
            from_sweep(time, update + self.out.row_words, self.region.depth)
            update[self.out.stride - 1] = change[words]
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for a reduction in a loop")

    # Sets a reminder for the first time after `time` at which the key's output would change if no
    # more input came.
    cdef int _look_ahead(self, uint32_t entry, const uint64_t* time) except -1 nogil:
        cdef Curve* curve = self.curves.curve(entry)
        cdef uint64_t candidate[MAX_COORDINATES]
        cdef int tried = 0
        if not self._find_axes(curve, time):
            return 0
        memcpy(candidate, time, self.region.depth * sizeof(uint64_t))
        while self._next(candidate):
            if tried < LOOK_AHEAD:
                self._find_changes(curve, candidate)
                tried += 1
                if self.changes.length == 0:
                    continue
            return self.calendar.add(candidate, entry)
        return 0

    # Collects for each axis the coordinates of the key's history that this step can affect; False
    # if no time of it lies ahead of `time` on any axis.
    cdef bint _find_axes(self, const Curve* curve, const uint64_t* time) except -1 nogil:
        cdef int d, depth = self.region.depth
        cdef bint ahead = False
        for d in range(depth):
            self.axes[d].assign(1, curve.low[d])
        self._note(curve.block + self.curves.in_words, curve.inputs, self.curves.in_stride, curve)
        self._note(curve.block + <size_t> curve.input_capacity * self.curves.in_stride
                   + self.curves.out_words, curve.outputs, self.curves.out_stride, curve)
        for d in range(depth):
            if self.axes[d].back() > time[d]:
                ahead = True
        return ahead

    cdef int _note(self, const uint64_t* times, uint32_t n, int stride,
                   const Curve* curve) except -1 nogil:
        cdef uint32_t i
        cdef int d, depth = self.region.depth
        cdef size_t place
        cdef uint64_t coordinate
        for i in range(n):
            for d in range(depth):
                coordinate = times[d]
                if coordinate < curve.low[d]:
                    continue
                place = self.axes[d].size()
                while place > 0 and self.axes[d][place - 1] > coordinate:
                    place -= 1
                if place == 0 or self.axes[d][place - 1] != coordinate:
                    self.axes[d].insert(self.axes[d].begin() + place, coordinate)
            times += stride
        return 0

    # Moves `candidate` to the next time of the grid of axes, in the order of the sweep.
    cdef bint _next(self, uint64_t* candidate) noexcept nogil:
        cdef int d = self.region.depth - 1, e
        cdef size_t i
        while d >= 0:
            for i in range(self.axes[d].size()):
                if self.axes[d][i] > candidate[d]:
                    candidate[d] = self.axes[d][i]
                    for e in range(d + 1, self.region.depth):
                        candidate[e] = self.axes[e].front()
                    return True
            d -= 1
        return False

    # Fills `changes` with what the key's output lacks at `time`.
    cdef int _find_changes(self, const Curve* curve, const uint64_t* time) except -1 nogil:
        cdef const uint64_t* entry = (
            curve.block + <size_t> curve.input_capacity * self.curves.in_stride)
        cdef uint32_t i
        self._see(curve, time)
        self.changes.length = 0
        if not self.group.empty():
            self.logic.apply(&self.group, &self.changes)
        for i in range(curve.outputs):
            if less_equal(entry + self.curves.out_words, time, self.region.depth):
                self._subtract(entry, entry[self.curves.out_stride - 1])
            entry += self.curves.out_stride
        if self.changes.length >= FEW_CHANGES:
            if consolidate(&self.changes) < 0:
                self._no_memory()
        else:
            self._drop_zeros()
        return 0

    # Subtracts `diff` copies of an output value from `changes`.
    cdef int _subtract(self, const uint64_t* value, uint64_t diff) except -1 nogil:
        cdef Py_ssize_t i
        cdef int words = self.logic.out_words
        cdef uint64_t* change
        if self.changes.length < FEW_CHANGES:
            for i in range(self.changes.length):
                change = self.changes.words + i * self.changes.stride
                if compare_words(change, value, words) == 0:
                    change[words] -= diff
                    return 0
        change = push(&self.changes)
        if change == NULL:
            self._no_memory()
        memcpy(change, value, words * sizeof(uint64_t))
        change[words] = 0 - diff
        return 0

    cdef void _drop_zeros(self) noexcept nogil:
        cdef Py_ssize_t i, kept = 0
        cdef int words = self.logic.out_words
        cdef uint64_t* change
        for i in range(self.changes.length):
            change = self.changes.words + i * self.changes.stride
            if change[words] == 0:
                continue
            if kept != i:
                memcpy(self.changes.words + kept * self.changes.stride, change,
                       self.changes.stride * sizeof(uint64_t))
            kept += 1
        self.changes.length = kept

    # Fills `group` with the input's values up to `time`, as far as they matter.
    cdef int _see(self, const Curve* curve, const uint64_t* time) except -1 nogil:
        cdef int words = self.curves.in_words, stride = self.curves.in_stride
        cdef const uint64_t* entry = curve.block
        cdef const uint64_t* end = entry + <size_t> curve.inputs * stride
        cdef int64_t total = 0
        cdef Candidate candidate
        self.group.clear()
        while entry < end:
            candidate.val = entry
            candidate.count = 0
            while entry < end and compare_words(entry, candidate.val, words) == 0:
                if less_equal(entry + words, time, self.region.depth):
                    candidate.count += <int64_t> entry[stride - 1]
                entry += stride
            if candidate.count > 0:
                self.group.push_back(candidate)
                total += candidate.count
                if entry < end and self.logic.enough(&self.group, total, entry):
                    break
        return 0
