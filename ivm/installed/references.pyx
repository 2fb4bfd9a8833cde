"""References: a piece lives while an input or a dataflow needs it, directly or through other pieces."""

from ivm.installed.pieces cimport Piece


cdef class Living:
    """Living pieces in the order in which they were first needed.

    Each counts the collections and living pieces that need it directly, so that what comes and goes
    costs as much as its own pieces, however many others there are.
    """

    def __init__(self):
        self.pieces = {}

    def __iter__(self):
        return iter(self.pieces)

    def __contains__(self, Piece piece):
        return self.has(piece)

    cdef bint has(self, Piece piece):
        return piece.users > 0

    cpdef int add(self, Piece piece) except -1:
        """Let one collection more need `piece`."""
        cdef Piece needed
        piece.users += 1
        if piece.users == 1:
            self.pieces[piece] = None
            for needed in piece.needs:
                self.add(needed)
        return 0

    cpdef list drop(self, Piece piece):
        """Let one collection less need `piece`: the pieces that nothing needs any more."""
        cdef list unused = []
        self.need_less(piece, unused)
        return unused

    cdef int need_less(self, Piece piece, list unused) except -1:
        cdef Piece needed
        piece.users -= 1
        if piece.users == 0:
            del self.pieces[piece]
            unused.append(piece)
            for needed in piece.needs:
                self.need_less(needed, unused)
        return 0
