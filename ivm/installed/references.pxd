from ivm.installed.pieces cimport Piece


# Living pieces.
cdef class Living:
    cdef dict pieces                # in the order in which they were first needed; values are None
    cdef bint has(self, Piece piece)
    cpdef int add(self, Piece piece) except -1
    cpdef list drop(self, Piece piece)
    # Adds to `unused` what nothing needs once one collection or piece less needs `piece`.
    cdef int need_less(self, Piece piece, list unused) except -1
