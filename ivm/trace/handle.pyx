"""Handles: a handle holds a trace's `since` back, so that its reader can read past times.

The hold is a frontier: times at or after it stay distinguishable, so the collection as of any of them can be
read. Advancing the hold lets the trace compact times further at its next merge; dropping the handle releases it.
"""

cimport cython
from libc.stdint cimport uint64_t

from ivm.trace.frontier cimport Antichain
from ivm.trace.times cimport MAX_COORDINATES
from ivm.trace.spine cimport Hold, Trace

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
        """The hold; empty once it was given up."""
        return Antichain(self.times.time_words, self.times)

    def advance(self, Antichain since):
        """Move the hold on to `since`; the empty frontier gives it up.

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
