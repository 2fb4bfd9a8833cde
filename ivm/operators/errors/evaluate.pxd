from ivm.operators.base.operator cimport Operator
from ivm.expressions.program cimport Program
from ivm.rows.updates cimport Updates


# A fallible operator sends rows to an error collection: one word for each message.
cdef class Fallible(Operator):
    cdef Updates errors     # of this step, all rounds; the runner takes them at its end


cdef class Evaluate(Fallible):
    cdef Operator source
    cdef Program program
    cdef Py_ssize_t taken   # of the source's updates, before this activation
    # Evaluates the rows that the source has so far, and empties it: the source calls this while it steps.
    cdef int take(self) except -1 nogil
    cdef int _evaluate(self) except -1 nogil
