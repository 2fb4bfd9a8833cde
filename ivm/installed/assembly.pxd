from ivm.physical.build cimport Building
from ivm.physical.plan cimport PhysicalPlan, PiecePlan
from ivm.installed.pieces cimport Piece


# A physical plan as it was built for a pool.
cdef class Assembly:
    cdef readonly PhysicalPlan plan
    cdef readonly object found          # (piece, index) of each slot
    cdef readonly list stages           # the root's, upstream first
    cdef readonly list numbered         # all, by their numbers in the plan
    cdef readonly list readers          # of all operators
    cdef readonly list pieces           # the new ones, the collection's own last
    cdef readonly Piece piece           # the collection's own
    cdef readonly dict arrangements     # (piece, index) of each new one
    cdef readonly tuple result          # (piece, index) of the one that has the collection's rows
    cdef readonly tuple inputs          # the operators of the first stage
    cdef readonly tuple captures        # what keeps the collection's changes, if anything does
    cdef int divide(self, Building built, str name) except -1
    # The new piece that was planned as `planned`.
    cdef Piece piece_of(self, PiecePlan planned)
