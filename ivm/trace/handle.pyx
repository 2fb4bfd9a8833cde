"""Handles: what readers keep a trace from losing.

A handle holds back two things, each for itself. Its logical hold, a frontier, keeps times
distinguishable: the collection as of any time at or after it can be read. Its physical hold, a
root time, keeps the batches that bring times from then on apart from those before, so that what is
new can be read by itself. Advancing a hold lets the trace go on at its next merge; dropping the
handle advances both for good.
"""

cimport cython
from libc.stdint cimport uint64_t

from ivm.trace.frontier cimport Antichain
from ivm.trace.times cimport MAX_COORDINATES
from ivm.trace.spine cimport NEVER, Hold, Trace

from ivm.errors import TimeInPast


@cython.no_gc_clear
cdef class Handle:
    """A reader of `trace` as of the frontier `since`, by default all that can still be read.

    Raises TimeCompacted for a frontier with times that were compacted already. Make and move handles
    between steps; they may be dropped at any time, from any thread.
    """

    def __init__(self, Trace trace, Antichain since=None):
        if self.trace is not None:
            raise ValueError("a handle is made once")
        self.hold.logical = False
        self.hold.apart = NEVER
        if since is None:
            since = trace.readable()
        self.place(trace, since)
        trace.enter(&self.hold)
        self.trace = trace

    def __dealloc__(self):
        if self.trace is not None:
            self.trace.leave(&self.hold)

    @property
    def since(self) -> Antichain:
        """The logical hold; empty once the reader reads no more."""
        return Antichain(self.times.time_words, self.times)

    def advance(self, Antichain since):
        """Move the logical hold on to `since`; to the empty frontier: give it up.

        Raises TimeInPast unless each time of `since` is at or after one of the present hold.
        """
        for time in since:
            if not self.times.less_equal(time):
                raise TimeInPast(f"{time} is not in advance of {list(self.times)}")
        self.place(self.trace, since)

    cdef int place(self, Trace trace, Antichain since) except -1:
        cdef uint64_t least[MAX_COORDINATES]
        cdef bint logical = since.meet_of(least)
        if since.time_words != trace.time_words:
            raise ValueError(f"the trace's times have {trace.time_words} coordinates")
        trace.move(&self.hold, logical, least)
        self.times = Antichain(since.time_words, since)
        return 0

    def keep_apart(self, time):
        """Move the physical hold: batches with root times from `time` on stay apart; None: none."""
        self.hold.apart = NEVER if time is None else time
