"""Inputs: updates queue here until the frontier passes their times."""

from libc.stdint cimport uint64_t
from libc.string cimport memmove

from ivm.operators.operator cimport Operator, Region
from ivm.rows.updates cimport Updates, append, empty_updates, release, update_at


cdef class Input(Operator):
    """One shard of an input; `enqueue` takes updates of its row format."""

    def __init__(self, Region region, int row_words):
        self.queue = empty_updates(row_words, 1)

    def __dealloc__(self):
        release(&self.queue)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.queue.length

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i, kept = 0
        cdef uint64_t* update
        self.out.length = 0
        if self._all_due():
            self.out, self.queue = self.queue, self.out
            return 0
        for i in range(self.queue.length):
            update = self.queue.words + i * self.queue.stride
            if update[self.queue.row_words] < self.region.upper:
                if append(&self.out, update, 1) < 0:
                    with gil:
                        raise MemoryError("no memory for an input's updates")
            else:
                memmove(self.queue.words + kept * self.queue.stride, update,
                        self.queue.stride * sizeof(uint64_t))
                kept += 1
        self.queue.length = kept
        return 0

    cdef bint _all_due(self) noexcept nogil:
        cdef Py_ssize_t i
        for i in range(self.queue.length):
            if update_at(&self.queue, i)[self.queue.row_words] >= self.region.upper:
                return False
        return True

    cdef int rest(self) except -1 nogil:
        Operator.rest(self)
        if self.queue.length == 0:
            release(&self.queue)
        return 0
