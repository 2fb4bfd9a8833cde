from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.operator cimport Operator, Reader
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch


# A batch whose updates count as of `lower` where they are older.
cdef struct Kept:
    Batch* batch
    uint64_t lower


cdef class Capture(Operator):
    cdef readonly Reader reader
    cdef Packing packing
    cdef Updates taken          # since the last drain,
    cdef vector[Kept] kept      # and batches of which this holds references
    # Appends all that is held to `all`.
    cdef int give(self, Updates* all) except -1
    # Forgets what is held.
    cdef void clear(self) noexcept
