# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# distutils: language = c++
"""A spine of batches: appended at one end, merged so that sizes fall geometrically.

A batch is merged with its elder neighbour once it has reached a quarter of its size: an update is
rewritten a logarithmic number of times, and a look-up visits a logarithmic number of batches.
Merging compacts times to the frontier, which no reader of a completed time can tell.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates, push
from ivm.trace.batch cimport (
    Batch, batch_bytes, build_batch, diff_of, drop, first_update, first_val, merge_batches, retain,
    time_of, val_at,
)


cdef class Trace:
    """One shard of an arrangement: key, value and time widths are in words.

    `strings` lists the words of (key, value) that hold strings, and whether they are complemented.
    """

    def __cinit__(self, int key_words, int val_words, int time_words, tuple strings):
        self.strings = strings
        self.key_words = key_words
        self.val_words = val_words
        self.time_words = time_words
        self.fresh = NULL
        self.published_time = -1
        self.stale = False

    def __dealloc__(self):
        cdef Batch* b
        for b in self.layers:
            drop(b)
        for b in self.published:
            drop(b)
        drop(self.fresh)

    cdef int seal(self, const Updates* updates, uint64_t since) except -1 nogil:
        self.absorb(since)
        if updates.length == 0:
            return 0
        self.fresh = build_batch(updates, self.key_words)
        if self.fresh == NULL:
            with gil:
                raise MemoryError("no memory for a batch of an arrangement")
        self.stale = True
        return 0

    cdef int absorb(self, uint64_t since) except -1 nogil:
        cdef Batch* merged
        cdef Batch* last
        if self.fresh == NULL:
            return 0
        self.layers.push_back(self.fresh)
        self.fresh = NULL
        self.stale = True
        while (self.layers.size() > 1 and self.layers[self.layers.size() - 2].updates
                <= 4 * self.layers.back().updates):
            last = self.layers.back()
            merged = merge_batches(self.layers[self.layers.size() - 2], last, since)
            if merged == NULL:
                with gil:
                    raise MemoryError("no memory to merge two batches of an arrangement")
            self.layers.pop_back()
            drop(last)
            drop(self.layers.back())
            self.layers.pop_back()
            if merged.updates > 0:
                self.layers.push_back(merged)
            else:
                drop(merged)
        return 0

    cdef void publish(self, int64_t time) noexcept:
        cdef Batch* b
        self.published_time = time
        if not self.stale:
            return
        for b in self.layers:
            retain(b)
        if self.fresh != NULL:
            retain(self.fresh)
        for b in self.published:
            drop(b)
        self.published = self.layers
        if self.fresh != NULL:
            self.published.push_back(self.fresh)
        self.stale = False

    cdef vector[Batch*] held(self) noexcept nogil:
        cdef vector[Batch*] batches = self.layers
        cdef Batch* b
        cdef size_t i
        if self.fresh != NULL:
            batches.push_back(self.fresh)
        for b in self.published:
            for i in range(batches.size()):
                if batches[i] == b:
                    break
            else:
                batches.push_back(b)
        return batches

    def account(self) -> tuple[int, int]:
        """Updates held and bytes of memory of the published batches."""
        cdef Py_ssize_t records = 0
        cdef size_t memory = 0
        cdef Batch* b
        for b in self.published:
            records += b.updates
            memory += batch_bytes(b)
        return records, memory


cdef int append_history(const Batch* b, Py_ssize_t k, Updates* history) noexcept nogil:
    cdef Py_ssize_t v, u
    cdef uint64_t* update
    for v in range(first_val(b, k), first_val(b, k + 1)):
        for u in range(first_update(b, v), first_update(b, v + 1)):
            update = push(history)
            if update == NULL:
                return -1
            memcpy(update, val_at(b, v), b.val_words * sizeof(uint64_t))
            memcpy(update + b.val_words, time_of(b, u), b.time_words * sizeof(uint64_t))
            memset(update + b.val_words + b.time_words, 0,
                   (history.time_words - b.time_words) * sizeof(uint64_t))
            update[history.stride - 1] = <uint64_t> diff_of(b, u)
    return 0
