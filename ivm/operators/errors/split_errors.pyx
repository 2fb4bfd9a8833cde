"""The split of results into rows and errors."""

from libc.stdint cimport uint64_t

from ivm.expressions.error_text cimport complain, text_of
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing, pack
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates, copy_few, push


cdef class Settling:
    """Packs keys and values of results into rows, and turns the other results into errors.

    `packing` makes a row of (key, value). An error names its key's row, of layout `named`, which `naming`
    makes of the key.
    """

    def __init__(self, Packing packing, Packing naming, Layout named, Interner interner):
        self.packing = packing
        self.naming = naming
        self.named = named
        self.interner = interner
        self.row.resize(named.words + 1)

    cdef int settle(self, const uint64_t* key, const uint64_t* result, const uint64_t* when,
                    Updates* out, Updates* errors) except -1 nogil:
        cdef Updates* to = out if result[0] == 0 else errors
        cdef uint64_t* target = push(to)
        if target == NULL:
            with gil:
                raise MemoryError("no memory for the output of an aggregate or a window")
        if to == out:
            pack(self.packing, key, result + 1, NULL, target)
        else:
            pack(self.naming, key, NULL, NULL, self.row.data())
            with gil:
                target[0] = complain(text_of(result[0], self.interner), self.row.data(),
                                     self.named, self.interner)
        copy_few(target + to.row_words, when, to.time_words + 1)
        return 0
