"""A subscription imports a trace: its present batches, then every batch sealed afterwards, in order.

The history and the sealed batches add up to the collection at every time from the trace's `since` at the
subscription on, however the trace merges meanwhile: batches are immutable and counted by reference. Thus
another thread may read the history while a pool goes on, then catch up.
"""

cimport cython
from libcpp.vector cimport vector

from ivm.trace.batch cimport Batch, drop
from ivm.trace.spine cimport Mailbox, Trace


@cython.no_gc_clear
cdef class Subscription:
    """Subscribes to `trace` from now on; make it between steps.

    It costs a reference for each batch. Dropping it, from any thread, releases all.
    """

    def __init__(self, Trace trace):
        self.follow(trace)

    cdef int follow(self, Trace trace) except -1:
        if self.trace is not None:
            raise ValueError("a subscription is made once")
        self.mailbox.history = &self.history
        self.mailbox.sealed = &self.sealed
        trace.subscribe(&self.mailbox)
        self.trace = trace
        return 0

    def __dealloc__(self):
        cdef Batch* b
        if self.trace is None:
            return
        self.trace.unsubscribe(&self.mailbox)
        for b in self.history:
            drop(b)
        for b in self.sealed:
            drop(b)

    cdef int take(self, vector[Batch*]& out) except -1 nogil:
        self.trace.guard.lock()
        try:
            out.insert(out.end(), self.sealed.begin(), self.sealed.end())
            self.sealed.clear()
        finally:
            self.trace.guard.unlock()
        return 0
