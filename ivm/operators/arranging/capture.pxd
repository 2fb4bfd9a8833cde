from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator, Reader
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch


# Capture holds the updates of all steps since the last drain.
cdef class Capture(Operator):
    cdef Updates taken          # since the last drain
    cdef Py_ssize_t captured    # of those, the updates of this activation
    # Appends all held updates to `all`.
    cdef int give(self, Updates* all) except -1
    # Drops the held updates.
    cdef void clear(self) noexcept


# Captures an operator's output.
cdef class CaptureRows(Capture):
    cdef Operator source


# A batch whose updates older than `lower` count as of `lower`.
cdef struct Kept:
    Batch* batch
    uint64_t lower


# Captures the new updates of an arrangement.
cdef class CaptureArranged(Capture):
    cdef readonly Reader reader
    cdef Packing packing
    cdef vector[Kept] kept      # batches, of each of which this holds a reference
