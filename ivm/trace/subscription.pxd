from libcpp.vector cimport vector

from ivm.trace.batch cimport Batch
from ivm.trace.spine cimport Mailbox, Trace


# A subscription imports a trace: all batches there now, then each one that is sealed from now on, in order.
cdef class Subscription:
    cdef readonly Trace trace
    cdef vector[Batch*] history     # as of the subscription, retained until it is dropped
    cdef vector[Batch*] sealed      # since then, in order, until taken
    cdef Mailbox mailbox            # the queues through which the trace delivers

    # Subscribes to `trace`, once.
    cdef int follow(self, Trace trace) except -1
    # Moves the batches sealed since the last call to the end of `out`, with their references:
    # the caller drops each. Allocates before it moves, so that a failure loses nothing.
    cdef int take(self, vector[Batch*]& out) except -1 nogil
