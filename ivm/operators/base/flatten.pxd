from ivm.operators.base.operator cimport Operator, Reader, Region
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch


# A cursor in the updates of a batch: the next update, and the value and key that it may belong to.
cdef struct Place:
    Py_ssize_t key
    Py_ssize_t val
    Py_ssize_t update


cdef class Flatten(Operator):
    cdef readonly Reader reader
    cdef Packing packing


# Finds the start of an operator's part of the updates of a batch; returns the number of these updates.
cdef Py_ssize_t find_part(const Batch* b, Operator operator, Place* place) noexcept nogil

# Appends at most `most` updates from `place` on to `out`, which has room for them; returns their number.
cdef Py_ssize_t read_updates(const Batch* b, Place* place, Py_ssize_t most, Region region,
                             Packing packing, Updates* out) noexcept nogil
