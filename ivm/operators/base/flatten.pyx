"""Flatten reads an arrangement as a collection: it emits the new updates of its batches."""

from libc.stdint cimport uint64_t

from ivm.operators.base.operator cimport Operator, Reader, Region, first_of
from ivm.rows.packing cimport Packing, pack
from ivm.rows.updates cimport Updates, copy_few, reserve, update_at
from ivm.trace.batch cimport (
    Batch, diff_of, find_key, find_val, first_update, first_val, key_at, time_of, val_at,
)
from ivm.trace.times cimport join_into


cdef class Flatten(Operator):
    """Emits the reader's new updates; `packing` makes a row from (key, value)."""

    def __init__(self, Region region, int row_words, Reader reader, Packing packing):
        self.slices = True
        self.reader = reader
        self.packing = packing

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region)

    cdef int step(self) except -1 nogil:
        cdef Batch* b
        cdef Place place
        cdef Py_ssize_t updates = 0
        self.out.length = 0
        self.reader.look(self.region)
        for b in self.reader.delta:
            updates += find_part(b, self, &place)
        if reserve(&self.out, updates) < 0:
            with gil:
                raise MemoryError("no memory to read an arrangement")
        for b in self.reader.delta:
            updates = find_part(b, self, &place)
            read_updates(b, &place, updates, self.region, self.packing, &self.out)
        return 0


cdef Py_ssize_t find_part(const Batch* b, Operator operator, Place* place) noexcept nogil:
    cdef Py_ssize_t first = first_of(b.updates, operator.part, operator.parts)
    place.update = first
    place.val = find_val(b, first)
    place.key = find_key(b, place.val)
    return first_of(b.updates, operator.part + 1, operator.parts) - first


cdef Py_ssize_t read_updates(const Batch* b, Place* place, Py_ssize_t most, Region region,
                             Packing packing, Updates* out) noexcept nogil:
    cdef Py_ssize_t first = place.update, end = min(b.updates, first + most)
    cdef Py_ssize_t k = place.key, v = place.val, u
    cdef uint64_t* update = update_at(out, out.length)
    cdef uint64_t* time
    for u in range(first, end):
        while u >= first_update(b, v + 1):
            v += 1
        while v >= first_val(b, k + 1):
            k += 1
        pack(packing, key_at(b, k), val_at(b, v), NULL, update)
        time = update + out.row_words
        copy_few(time, region.at, out.time_words)
        time[0] = region.lower
        join_into(time, time_of(b, u), b.time_words)
        update[out.stride - 1] = <uint64_t> diff_of(b, u)
        update += out.stride
    place.key = k
    place.val = v
    place.update = end
    out.length += end - first
    return end - first
