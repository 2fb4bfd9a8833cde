from ivm.render.pieces cimport Piece


# Living pieces.
cdef class Living:
    cdef dict pieces                # in the order in which they were first needed; values are None
    cdef bint has(self, Piece piece)
    cpdef int add(self, Piece piece) except -1
    cpdef list drop(self, Piece piece)
