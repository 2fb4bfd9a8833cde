"""A mirror: a trace of one's own that follows a shared one, for a dataflow that catches up.

It holds the shared trace's own batches, so that it costs references and not copies. The pool goes
on sealing batches into the shared trace meanwhile; `take` brings those over. Between two calls of
`take` the mirror stands still, and another thread may run operators that read it.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memset
from libcpp.vector cimport vector

from ivm.trace.batch cimport Batch, drop, retain
from ivm.trace.merge cimport merge_batches
from ivm.trace.subscription cimport Subscription
from ivm.trace.times cimport MAX_COORDINATES
from ivm.trace.trace cimport Trace


cdef class Mirror:
    """A mirror of `shared` as of now; make it, and call `take`, between the pool's steps."""

    cdef readonly Trace trace
    cdef readonly Trace shared
    cdef Subscription subscription

    def __init__(self, Trace shared):
        cdef Batch* b
        self.shared = shared
        self.subscription = Subscription(shared)
        self.trace = Trace(shared.key_words, shared.val_words, shared.time_words, shared.strings)
        for b in self.subscription.history:
            self.trace.adopt(b, 0)

    def take(self) -> int:
        """Make what was sealed since the last call the mirror's fresh batch; its updates."""
        cdef vector[Batch*] sealed
        cdef uint64_t since[MAX_COORDINATES]
        cdef Batch* whole = NULL
        cdef Batch* merged
        cdef Py_ssize_t updates = 0
        cdef size_t i
        memset(since, 0, sizeof(since))
        self.subscription.take(sealed)
        try:
            for i in range(sealed.size()):
                merged = sealed[i] if i == 0 else merge_batches(whole, sealed[i], since)
                if merged == NULL:
                    raise MemoryError("no memory to catch up with an arrangement")
                if i == 0:
                    retain(merged)
                drop(whole)
                whole = merged
            if whole == NULL:
                self.trace.absorb(0)
            else:
                updates = whole.updates
                self.trace.adopt(whole, 0)
        finally:
            drop(whole)
            for i in range(sealed.size()):
                drop(sealed[i])
        return updates
