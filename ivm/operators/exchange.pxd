from libcpp.vector cimport vector

from ivm.operators.operator cimport Operator
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport Updates
from ivm.trace.dealing cimport Part


cdef class Exchange(Operator):
    cdef tuple sources
    cdef vector[void*] inputs       # borrowed from `sources`
    cdef vector[bint] negated
    cdef vector[int] key
    cdef Layout layout
    cdef Interner interner
    cdef Packing packing
    cdef vector[Updates] packed     # of each source, while they are dealt out
    cdef vector[Updates*] outs      # borrowed from the operators of all shards, this one included
    # Makes the operators of all shards know each other.
    cdef int know(self, tuple operators) except -1
    # Appends the sources' rows to what all shards put out.
    cdef int hand_over(self) except -1 nogil
    # The same by threads: all pack, then one of the operators deals out what all have.
    cdef int pack(self) except -1 nogil
    cdef int list_parts(self, vector[Part]* parts) except -1 nogil
    cdef int deal_all(self, vector[Part]* parts) except -1 nogil

    cdef int hand_over_rows(self, const Updates* given, bint negated) except -1 nogil
    cdef int no_memory(self) except -1 nogil
