from ivm.installed.assembly cimport Assembly
from ivm.installed.pieces cimport Piece


# An input or an installed dataflow.
cdef class Collection:
    cdef readonly str name
    cdef readonly object layout         # how its rows lie when they leave
    cdef readonly object source         # the node by which dataflows find its rows by its key
    cdef readonly Assembly built        # what maintains it
    cdef readonly Piece piece
    cdef readonly list indexes          # (piece, index) of each arrangement of its rows
    cdef readonly object intake         # of an input
    cdef readonly object arriving       # the format in which rows arrive there
    cdef readonly tuple captures        # of a dataflow
    cdef readonly frozenset reads       # the collections that it refers to
    cdef readonly dict read_by          # those that refer to it; values are None
    cdef readonly bint insert_only
    cdef public list pending_errors
    # Calls the dataflows that are keys of `names` by their values from now on.
    cdef int take_names(self, dict names) except -1
