from ivm.trace.frontier cimport Antichain
from ivm.trace.spine cimport Hold, Trace


# A reader's hold on a trace.
cdef class Handle:
    cdef readonly Trace trace
    cdef Antichain times    # as of which the reader reads
    cdef Hold hold          # what the trace sees of it
    cdef int place(self, Trace trace, Antichain since) except -1
