from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch


# The batches of one collection's arrangement in one shard.
#
# `layers` hold what came before this activation, larger first; `fresh` (or NULL) is what this
# activation brought; `published` is what readers beside the workers see, as of the frontier.
cdef class Trace:
    cdef readonly int key_words
    cdef readonly int val_words
    cdef readonly int time_words
    cdef readonly tuple strings     # (word of a key followed by a value, complemented?)
    cdef vector[Batch*] layers
    cdef Batch* fresh
    cdef vector[Batch*] published
    cdef int64_t published_time                       # as of which, or -1
    cdef bint stale                                   # `published` lags behind

    # Seals consolidated updates as the fresh batch, after absorbing the one before.
    cdef int seal(self, const Updates* updates, uint64_t since) except -1 nogil
    # Moves the fresh batch into the layers and merges until sizes fall geometrically.
    cdef int absorb(self, uint64_t since) except -1 nogil
    # Lets readers see the layers as of `time`; the caller holds the GIL, as readers do.
    cdef void publish(self, int64_t time) noexcept
    # Every batch that is still of use, each once.
    cdef vector[Batch*] held(self) noexcept nogil


# Appends batch `b`'s updates of the key at `k` as rows of value words with times of
# `history.time_words` coordinates (missing ones are 0); -1 where memory is short.
cdef int append_history(const Batch* b, Py_ssize_t k, Updates* history) noexcept nogil
