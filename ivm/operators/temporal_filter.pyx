"""Temporal filter: a clock lets in the rows whose moment has come, at a cost of the rows let in.

Rows whose moment is to come are kept in a trace by their moments, so that a tick reads just the moments that
it passes. Rows let in are taken out of the trace, where insertions and deletions of a row cancel as in any
other. Nothing of a row is kept once all its moments have passed.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.arranging.arrange cimport Sealing
from ivm.operators.base.operator cimport Operator, Region
from ivm.rows.updates cimport Updates, empty_updates, push, release
from ivm.trace.batch cimport (
    Batch, diff_of, first_update, first_val, key_at, seek_key, val_at,
)
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.spine cimport Trace


cdef class TemporalFilter(Sealing):
    """Emits the rows of `source` whose moment has come; each is one word of a moment and then a row.

    `clocks` are the clock's shards: rows of one word, the present moment. The greatest so far counts, and
    before the first one no moment has come. `trace` holds this shard's rows whose moment is to come; no other
    operator reads it.
    """

    cdef Operator source
    cdef tuple sources              # of the clock
    cdef vector[void*] clocks       # borrowed from `sources`
    cdef bint begun                 # the clock had a moment before the step,
    cdef uint64_t now               # and this one
    cdef Updates ticks              # the clock in the step: moments that ascend, with their times
    cdef Updates kept               # changes of the rows whose moment is to come

    def __init__(self, Region region, int row_words, Operator source, tuple clocks, tuple strings):
        self.seeks = True
        self.source = source
        self.trace = Trace(1, source.out.row_words - 1, region.depth, strings)
        self.sources = clocks
        for clock in clocks:
            self.clocks.push_back(<void*> clock)
        self.begun = False
        self.ticks = empty_updates(1, 1)
        self.kept = empty_updates(1 + row_words, 1)

    def __dealloc__(self):
        release(&self.ticks)
        release(&self.kept)

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = self.source.out.length
        cdef size_t s
        for s in range(self.clocks.size()):
            total += (<Operator> self.clocks[s]).out.length
        return total

    cdef int step(self) except -1 nogil:
        cdef Batch* b
        self.out.length = self.ticks.length = self.kept.length = 0
        self._read_clocks()
        if self.ticks.length > 0:
            for b in self.trace.layers:
                self._let_in(b)
        self._take_input()
        if self.ticks.length > 0:
            self.now = self._moment(self.ticks.length - 1)
            self.begun = True
        if consolidate(&self.kept) < 0:
            self._no_memory()
        self.trace.seal(&self.kept, self.region.lower)
        return 0

    # Fills `ticks` with the clock's insertions that bring it forward, in the order of time.
    cdef int _read_clocks(self) except -1 nogil:
        cdef Updates* given
        cdef uint64_t* tick
        cdef uint64_t now = self.now
        cdef bint begun = self.begun
        cdef Py_ssize_t i, kept = 0
        cdef size_t s
        for s in range(self.clocks.size()):
            given = &(<Operator> self.clocks[s]).out
            for i in range(given.length):
                if <int64_t> given.words[(i + 1) * given.stride - 1] > 0:
                    tick = push(&self.ticks)
                    if tick == NULL:
                        self._no_memory()
                    tick[0] = given.words[i * given.stride + given.row_words]   # to sort by time
                    tick[1] = given.words[i * given.stride]
                    tick[2] = 1
        if consolidate(&self.ticks) < 0:
            self._no_memory()
        for i in range(self.ticks.length):
            tick = self.ticks.words + i * self.ticks.stride
            if not begun or tick[1] > now:
                begun = True
                now = tick[1]
                memcpy(self.ticks.words + kept * self.ticks.stride, tick,
                       self.ticks.stride * sizeof(uint64_t))
                kept += 1
        self.ticks.length = kept
        return 0

    cdef inline uint64_t _time(self, Py_ssize_t tick) noexcept nogil:
        return self.ticks.words[tick * self.ticks.stride]

    cdef inline uint64_t _moment(self, Py_ssize_t tick) noexcept nogil:
        return self.ticks.words[tick * self.ticks.stride + 1]

    # Finds the first tick that is at or after `moment`; the number of ticks if there is none.
    cdef Py_ssize_t _tick_of(self, uint64_t moment) noexcept nogil:
        cdef Py_ssize_t low = 0, high = self.ticks.length, middle
        while low < high:
            middle = (low + high) // 2
            if self._moment(middle) < moment:
                low = middle + 1
            else:
                high = middle
        return low

    # Emits the rows of `b` whose moments the step's ticks pass.
    cdef int _let_in(self, const Batch* b) except -1 nogil:
        cdef uint64_t last = self._moment(self.ticks.length - 1), time
        cdef uint64_t after = self.now + 1 if self.begun else 0
        cdef Py_ssize_t k = seek_key(b, &after, 0), v, u
        while k < b.keys and key_at(b, k)[0] <= last:
            time = self._time(self._tick_of(key_at(b, k)[0]))
            for v in range(first_val(b, k), first_val(b, k + 1)):
                for u in range(first_update(b, v), first_update(b, v + 1)):
                    self._put(&self.out, NULL, val_at(b, v), time, diff_of(b, u))
                    self._put(&self.kept, key_at(b, k), val_at(b, v), time, -diff_of(b, u))
            k += 1
        return 0

    # Emits the input rows whose moment comes by the end of the step, and keeps the others.
    cdef int _take_input(self) except -1 nogil:
        cdef Updates* given = &self.source.out
        cdef Py_ssize_t i, tick
        cdef const uint64_t* update
        cdef uint64_t time
        cdef int64_t diff
        for i in range(given.length):
            update = given.words + i * given.stride
            time = update[given.row_words]
            diff = <int64_t> update[given.stride - 1]
            tick = self._tick_of(update[0])
            if self.begun and update[0] <= self.now:
                self._put(&self.out, NULL, update + 1, time, diff)
            elif tick < self.ticks.length:
                self._put(&self.out, NULL, update + 1, max(time, self._time(tick)), diff)
            else:
                self._put(&self.kept, update, update + 1, time, diff)
        return 0

    # Appends an update, of a row with its moment before it unless that is NULL.
    cdef int _put(self, Updates* to, const uint64_t* moment, const uint64_t* row, uint64_t time,
                  int64_t diff) except -1 nogil:
        cdef int width = self.kept.row_words - 1
        cdef uint64_t* update = push(to)
        if update == NULL:
            self._no_memory()
        if moment != NULL:
            update[0] = moment[0]
            update += 1
        memcpy(update, row, width * sizeof(uint64_t))
        update[width] = time
        update[width + 1] = <uint64_t> diff
        return 0
