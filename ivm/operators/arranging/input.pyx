"""An input queues updates from outside, in any shard, until the frontier passes their times.

A load is many rows of one time. Where only an arrangement reads the input, they queue without times and
diffs, as bare rows: this halves the memory that is written and read on their way.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memmove
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport KEPT_UPDATES, Operator, Region
from ivm.rows.updates cimport (
    Updates, append, dress, empty_bare, empty_like, empty_updates, is_bare, push, release, reserve, update_at,
)
from ivm.trace.sorting.sort cimport consolidate


cdef class Input(Operator):
    """One shard of an input; `arranged` says that an arrangement is its only reader."""

    def __init__(self, Region region, int row_words, bint arranged):
        self.arranged = arranged
        self.queue = empty_updates(row_words, 1)
        self.ordered = True
        self.start = 0
        self.settles = True

    def __dealloc__(self):
        release(&self.queue)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.queue.length - self.start

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t end
        self.out.length = 0
        self.order()
        end = self._first_from(self.region.upper)
        if self.start == 0 and end == self.queue.length:
            self.out, self.queue = self.queue, self.out
            return 0
        if is_bare(&self.out):
            release(&self.out)
            self.out = empty_like(&self.queue)
        if append(&self.out, update_at(&self.queue, self.start), end - self.start) < 0:
            with gil:
                raise MemoryError("no memory for an input's updates")
        self.start = end
        return 0

    cdef uint64_t after(self, Py_ssize_t times) except? 0 nogil:
        cdef Py_ssize_t i
        self.order()
        i = self.start
        while i < self.queue.length:
            if times == 0:
                return self._time(i)
            times -= 1
            i = self._first_from(self._time(i) + 1)
        return 0xFFFFFFFFFFFFFFFF

    cdef bint may_be_bare(self, uint64_t time) noexcept nogil:
        return self.arranged and self.queue.row_words > 0 and (
            self.load() == 0 or is_bare(&self.queue) and self.queue.time == time)

    cdef int make_bare(self, bint bare, uint64_t time) except -1:
        if self.load() == 0 and bare != is_bare(&self.queue):
            release(&self.queue)
            self.start = 0
            self.queue = (empty_bare(self.queue.row_words, time) if bare
                          else empty_updates(self.queue.row_words, 1))
        elif self.load() == 0 and bare:
            self.queue.time = time
        elif not bare and dress(&self.queue) < 0:
            raise MemoryError
        return 0

    cdef bint follows(self, uint64_t time) noexcept nogil:
        return self.queue.length == self.start or self._time(self.queue.length - 1) <= time

    cdef inline uint64_t _time(self, Py_ssize_t i) noexcept nogil:
        return self.queue.time if is_bare(&self.queue) else update_at(&self.queue, i)[self.queue.row_words]

    # Finds the first queued update whose time is not below `time`.
    cdef Py_ssize_t _first_from(self, uint64_t time) noexcept nogil:
        cdef Py_ssize_t low = self.start, high = self.queue.length, middle
        while low < high:
            middle = (low + high) // 2
            if self._time(middle) < time:
                low = middle + 1
            else:
                high = middle
        return low

    cdef int order(self) except -1 nogil:
        cdef Updates places, sorted
        cdef Py_ssize_t i
        cdef uint64_t* place
        if self.ordered:
            return 0
        for i in range(self.start + 1, self.queue.length):
            if self._time(i - 1) > self._time(i):
                break
        else:
            self.ordered = True
            return 0
        places = empty_updates(1, 1)
        sorted = empty_updates(self.queue.row_words, 1)
        if (reserve(&places, self.load()) == 0 and reserve(&sorted, self.load()) == 0):
            for i in range(self.start, self.queue.length):
                place = push(&places)
                place[0] = self._time(i)
                place[1] = <uint64_t> i
                place[2] = 1
            if consolidate(&places) == 0:
                for i in range(places.length):
                    append(&sorted, update_at(&self.queue, <Py_ssize_t> update_at(&places, i)[1]), 1)
                self.queue, sorted = sorted, self.queue
                self.start = 0
                self.ordered = True
        release(&places)
        release(&sorted)
        if not self.ordered:
            with gil:
                raise MemoryError("no memory to sort an input's updates by time")
        return 0

    cdef int settle(self) except -1 nogil:
        cdef Py_ssize_t left = self.queue.length - self.start
        if self.start > 0 and 2 * self.start >= self.queue.length:
            memmove(self.queue.words, update_at(&self.queue, self.start),
                    left * self.queue.stride * sizeof(uint64_t))
            self.queue.length = left
            self.start = 0
        if left == 0:
            self.ordered = True
            if self.queue.capacity > KEPT_UPDATES:
                release(&self.queue)
        return 0
