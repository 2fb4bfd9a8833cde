from libcpp.vector cimport vector

from ivm.operators.dealer cimport Dealer
from ivm.rows.updates cimport Updates


# What is summed up.
cdef struct Term:
    void* source        # borrowed
    bint negated


cdef class Exchange(Dealer):
    cdef tuple sources
    cdef vector[Term] terms         # one for each of them
    cdef vector[Updates] packed     # of each source, while they are dealt out
