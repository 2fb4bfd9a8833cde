from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator, Reader
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch


# Updates of all steps since they were last taken.
cdef class Capture(Operator):
    cdef Updates taken          # since the last drain
    # Appends all that is held to `all`.
    cdef int give(self, Updates* all) except -1
    # Forgets what is held.
    cdef void clear(self) noexcept


# Those that an operator puts out.
cdef class CaptureRows(Capture):
    cdef Operator source


# A batch whose updates count as of `lower` where they are older.
cdef struct Kept:
    Batch* batch
    uint64_t lower


# Those of an arrangement.
cdef class CaptureArranged(Capture):
    cdef readonly Reader reader
    cdef Packing packing
    cdef vector[Kept] kept      # batches of which this holds references
