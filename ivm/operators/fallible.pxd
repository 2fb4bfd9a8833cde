from ivm.operators.operator cimport Operator
from ivm.rows.updates cimport Updates


# An operator that sends rows to errors: their messages, one word each.
cdef class Fallible(Operator):
    cdef Updates errors     # of this step, all rounds; the runner takes them at its end
