from ivm.physical.plan cimport PiecePlan
from ivm.trace.spine cimport Trace


# A piece of a plan as it was built, and the pieces that it reads.
cdef class Piece:
    cdef readonly str name
    cdef readonly PiecePlan plan
    cdef readonly object arranged   # the node whose arrangement it is, unless it is a dataflow's own
    cdef readonly list stages       # those of the root, upstream first
    cdef readonly dict operators    # of the stages that hold something, by number: one for each shard
    cdef readonly list needs        # other pieces, each once
    cdef int users                  # collections and living pieces that need it directly
    # Calls the dataflows that are keys of `names` by their values from now on.
    cdef int take_names(self, dict names) except -1


cdef Piece new_piece(str name, PiecePlan plan, list stages, dict operators)


# An arrangement: its node, how its rows lie, and its trace.
cdef class Index:
    cdef readonly object node
    cdef readonly object shape
    cdef readonly Trace trace
    # The layout of the key's columns and their names; None until they are asked for.
    cdef object _key
    cdef tuple _key_names
    # Calls the dataflows that are keys of `names` by their values from now on.
    cdef int take_names(self, dict names) except -1


cdef Index new_index(node, shape, Trace trace)
