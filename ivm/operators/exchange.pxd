from libcpp.vector cimport vector

from ivm.operators.dealer cimport Dealer
from ivm.rows.updates cimport Updates


cdef class Exchange(Dealer):
    cdef tuple sources
    cdef vector[void*] inputs       # borrowed from `sources`
    cdef vector[bint] negated
    cdef vector[Updates] packed     # of each source, while they are dealt out
