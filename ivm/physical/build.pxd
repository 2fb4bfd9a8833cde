from ivm.operators.base.operator cimport Reader
from ivm.trace.spine cimport Trace


# What is made of the stages of a plan.
cdef class Building:
    cdef readonly list operators    # of each stage, a tuple of one for each shard, or of one; or of a loop
    cdef readonly list stages       # of each stage: a Stage
    cdef readonly list readers      # of all operators, in order
    cdef list regions
    cdef list found                 # traces, by slot
    cdef int shards
    cdef Reader reader(self, Trace trace)


# An arrangement's trace, in a plan.
cdef class TracePlan:
    cdef readonly int stage         # -1 for what was found
    cdef readonly int slot          # which of what was found; -1 otherwise
    cdef Trace of(self, Building building)
