from ivm.trace.frontier cimport Antichain
from ivm.trace.spine cimport Hold, Trace


# A handle holds a trace's `since` back for one reader.
cdef class Handle:
    cdef readonly Trace trace
    cdef Antichain times    # the frontier as of which the reader reads
    cdef Hold hold          # the hold that the trace sees
    cdef int place(self, Trace trace, Antichain since) except -1
