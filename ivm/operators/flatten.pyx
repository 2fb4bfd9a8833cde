"""An arrangement read as a collection: what is new in it, as plain updates."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from ivm.operators.operator cimport Operator, Reader, Region
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport push, reserve
from ivm.trace.batch cimport (
    Batch, diff_of, first_update, first_val, key_at, time_of, val_at,
)
from ivm.trace.times cimport join_into


cdef class Flatten(Operator):
    """Emits the reader's new updates; `packing` makes a row from (key, value)."""

    def __init__(self, Region region, int row_words, Reader reader, Packing packing):
        self.reader = reader
        self.packing = packing

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region)

    cdef int step(self) except -1 nogil:
        cdef Batch* b
        cdef Py_ssize_t updates = 0
        self.out.length = 0
        self.reader.look(self.region)
        for b in self.reader.delta:
            updates += b.updates
        if reserve(&self.out, updates) < 0:
            with gil:
                raise MemoryError("no memory to read an arrangement")
        for b in self.reader.delta:
            self._emit(b)
        return 0

    cdef int _emit(self, const Batch* b) except -1 nogil:
        cdef Py_ssize_t k, v, u
        cdef uint64_t* update
        cdef uint64_t* time
        for k in range(b.keys):
            for v in range(first_val(b, k), first_val(b, k + 1)):
                for u in range(first_update(b, v), first_update(b, v + 1)):
                    update = push(&self.out)
                    self.packing.pack(key_at(b, k), val_at(b, v), NULL, update)
                    time = update + self.out.row_words
                    memcpy(time, self.region.at, self.out.time_words * sizeof(uint64_t))
                    time[0] = self.region.lower
                    join_into(time, time_of(b, u), b.time_words)
                    update[self.out.stride - 1] = <uint64_t> diff_of(b, u)
        return 0
