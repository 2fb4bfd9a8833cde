"""A mirror: a subscription with a trace of its own, for a dataflow that catches up.

It holds the shared trace's own batches, so that it costs references and not copies. The pool goes
on sealing batches into the shared trace meanwhile: `take_over` brings those over, and `pass_on` makes them
the mirror's fresh batch, a range of times after the other. Between two calls the mirror stands still,
and another thread may run operators that read it.
"""

cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort, unique
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates, empty_updates, push, release
from ivm.trace.batch cimport (
    Batch, diff_of, drop, first_update, first_val, key_at, retain, time_of, val_at,
)
from ivm.trace.building.build cimport build_batch
from ivm.trace.merging.merge cimport merge_batches
from ivm.trace.subscription cimport Subscription
from ivm.trace.times cimport MAX_COORDINATES
from ivm.trace.spine cimport Trace


@cython.no_gc_clear
cdef class Mirror(Subscription):
    """A mirror of the trace `shared` as of now: `own`, for readers.

    Make it, and call `take_over`, between the pool's steps.
    """

    cdef readonly Trace own
    cdef vector[Batch*] waiting     # taken over; of the first ones some times may be passed on
    cdef uint64_t passed            # times below are passed on

    def __init__(self, Trace shared):
        self.follow(shared)
        self.own = Trace(shared.key_words, shared.val_words, shared.time_words, shared.strings)
        self.own.show(self.history)

    def __dealloc__(self):
        cdef Batch* b
        for b in self.waiting:
            drop(b)

    def take_over(self) -> int:
        """Take over the batches sealed since the last call; the number of their updates."""
        cdef Py_ssize_t updates = 0
        cdef size_t i, before = self.waiting.size()
        self.take(self.waiting)
        for i in range(before, self.waiting.size()):
            updates += self.waiting[i].updates
        return updates

    def after(self, Py_ssize_t times, uint64_t upper) -> int:
        """The frontier, at most `upper`, before which at most `times` times wait."""
        cdef vector[uint64_t] roots
        cdef Batch* b
        cdef Py_ssize_t i
        for b in self.waiting:
            for i in range(b.time_count):
                if self.passed <= b.times[i * b.time_words] < upper:
                    roots.push_back(b.times[i * b.time_words])
        sort(roots.begin(), roots.end())
        roots.erase(unique(roots.begin(), roots.end()), roots.end())
        return upper if roots.size() <= <size_t> times else roots[times]

    def pass_on(self, uint64_t upper):
        """Make the times below `upper` that wait the mirror's fresh batch."""
        cdef uint64_t since[MAX_COORDINATES]
        cdef Batch* whole = NULL
        cdef Batch* part
        cdef Batch* merged
        cdef size_t i, kept = 0
        memset(since, 0, sizeof(since))
        try:
            for i in range(self.waiting.size()):
                part = between(self.waiting[i], self.passed, upper)
                if part == NULL:
                    continue
                if whole == NULL:
                    whole = part
                    continue
                merged = merge_batches(whole, part, since)
                drop(whole)
                drop(part)
                whole = merged
                if whole == NULL:
                    no_memory()
            if whole == NULL:
                self.own.absorb(0)
            else:
                self.own.adopt(whole, 0)
        finally:
            drop(whole)
        self.passed = upper
        for i in range(self.waiting.size()):
            if last_root(self.waiting[i]) < upper:
                drop(self.waiting[i])
            else:
                self.waiting[kept] = self.waiting[i]
                kept += 1
        self.waiting.resize(kept)


cdef inline uint64_t last_root(const Batch* b) noexcept nogil:
    return b.times[(b.time_count - 1) * b.time_words]


# The updates of `b` with root times from `lower` to below `upper`, with a reference for the caller;
# NULL if there are none.
cdef Batch* between(Batch* b, uint64_t lower, uint64_t upper) except? NULL:
    cdef Updates found
    cdef Batch* part = NULL
    cdef int failed
    if last_root(b) < lower or b.times[0] >= upper:
        return NULL
    if b.times[0] >= lower and last_root(b) < upper:
        retain(b)
        return b
    found = empty_updates(b.key_words + b.val_words, b.time_words)
    failed = copy_between(b, lower, upper, &found)
    if failed == 0 and found.length > 0:
        part = build_batch(&found, b.key_words)
        failed = part == NULL
    release(&found)
    if failed != 0:
        no_memory()
    return part


cdef int copy_between(const Batch* b, uint64_t lower, uint64_t upper, Updates* into) noexcept nogil:
    cdef Py_ssize_t k, v, u
    cdef uint64_t* update
    for k in range(b.keys):
        for v in range(first_val(b, k), first_val(b, k + 1)):
            for u in range(first_update(b, v), first_update(b, v + 1)):
                if not lower <= time_of(b, u)[0] < upper:
                    continue
                update = push(into)
                if update == NULL:
                    return -1
                memcpy(update, key_at(b, k), b.key_words * sizeof(uint64_t))
                memcpy(update + b.key_words, val_at(b, v), b.val_words * sizeof(uint64_t))
                memcpy(update + into.row_words, time_of(b, u), b.time_words * sizeof(uint64_t))
                update[into.stride - 1] = <uint64_t> diff_of(b, u)
    return 0


cdef int no_memory() except -1:
    raise MemoryError("no memory to catch up with an arrangement")
