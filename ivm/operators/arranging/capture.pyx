"""Capture holds changes until they are drained: an operator's output, or an arrangement's new batches.

The batches of an arrangement are consolidated already, and large ones are kept by reference.
"""

from ivm.operators.base.flatten cimport Place, read_updates
from ivm.operators.base.operator cimport Operator, Reader, Region, read_alone
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates, append, empty_updates, release, reserve
from ivm.trace.batch cimport Batch, drop, retain

cdef enum:
    LARGE = 1 << 12     # updates from which on a batch is kept by reference, since it outweighs its header


cdef class Capture(Operator):
    """Holds one shard's new updates until they are drained."""

    def __cinit__(self, Region region, int row_words, *args):
        self.taken = empty_updates(row_words, region.depth)

    def __dealloc__(self):
        release(&self.taken)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was captured since the last drain."""
        return self.taken.length == 0

    cdef Py_ssize_t yields(self) noexcept nogil:
        return self.captured

    cdef int give(self, Updates* all) except -1:
        if append(all, self.taken.words, self.taken.length) < 0:
            no_memory()
        return 0

    cdef void clear(self) noexcept:
        release(&self.taken)


cdef class CaptureRows(Capture):
    """Captures the updates that `source` puts out."""

    def __init__(self, Region region, int row_words, Operator source):
        self.source = source

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        self.captured = self.source.out.length
        if self.taken.length == 0 and read_alone(self.source):
            self.taken, self.source.out = self.source.out, self.taken
        elif append(&self.taken, self.source.out.words, self.source.out.length) < 0:
            no_memory()
        return 0


cdef class CaptureArranged(Capture):
    """Captures the new updates of an arrangement; `packing` makes a row from (key, value)."""

    def __init__(self, Region region, int row_words, Reader reader, Packing packing):
        self.reader = reader
        self.packing = packing

    def __dealloc__(self):
        self.clear()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was captured since the last drain."""
        return self.taken.length == 0 and self.kept.empty()

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region)

    cdef int step(self) except -1 nogil:
        cdef Batch* b
        self.captured = 0
        self.reader.look(self.region)
        for b in self.reader.delta:
            self.captured += b.updates
            if b.updates >= LARGE:
                self.kept.push_back(Kept(b, self.region.lower))
                retain(b)
            elif _append(b, self.region, self.packing, &self.taken) < 0:
                no_memory()
        return 0

    cdef int give(self, Updates* all) except -1:
        cdef Region then = Region(self.region.depth)
        cdef Kept each
        Capture.give(self, all)
        for each in self.kept:
            then.lower = each.lower
            if _append(each.batch, then, self.packing, all) < 0:
                no_memory()
        return 0

    cdef void clear(self) noexcept:
        cdef Kept each
        Capture.clear(self)
        for each in self.kept:
            drop(each.batch)
        self.kept.clear()


cdef int _append(const Batch* b, Region region, Packing packing, Updates* out) noexcept nogil:
    cdef Place place
    if reserve(out, b.updates) < 0:
        return -1
    place.key = place.val = place.update = 0
    read_updates(b, &place, b.updates, region, packing, out)
    return 0


cdef int no_memory() except -1 nogil:
    with gil:
        raise MemoryError("no memory for deltas that nobody has taken")
