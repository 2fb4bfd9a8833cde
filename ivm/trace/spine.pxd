cimport cython
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates
from ivm.threads.team cimport Chore
from ivm.trace.batch cimport Batch
from ivm.trace.sorting.partition cimport Part
from ivm.trace.frontier cimport Antichain
from ivm.trace.merging.merge cimport Merge
from ivm.trace.times cimport MAX_COORDINATES

cdef extern from "<mutex>" namespace "std" nogil:
    cdef cppclass mutex:
        void lock()
        void unlock()


# What a reader keeps a trace from losing (see Handle).
cdef struct Hold:
    bint logical                        # whether it holds back the compaction of times
    uint64_t since[MAX_COORDINATES]     # if so: no time that it reads as of is before this


# Where a subscription keeps its batches (see Subscription).
cdef struct Mailbox:
    vector[Batch*]* history
    vector[Batch*]* sealed


# The batches of one collection's arrangement, which all shards read.
#
# `layers` hold what came before this activation, larger first; `fresh` (or NULL) is what this
# activation brought; `published` is what readers beside the workers see, as of the frontier.
@cython.final
cdef class Trace:
    cdef readonly int key_words
    cdef readonly int val_words
    cdef readonly int time_words
    cdef int threads                # that seal many updates together, and merge them beside the step
    cdef readonly tuple strings     # (word of a key followed by a value, complemented?)
    cdef vector[Batch*] layers
    cdef Batch* fresh
    cdef vector[Batch*] published
    cdef vector[Batch*] upcoming                      # prepared to be published
    cdef bint stale                                   # `published` lags behind
    cdef uint64_t since[MAX_COORDINATES]              # times before may be compacted already
    cdef vector[Merge*] merges                        # in progress, each of two adjacent layers
    cdef Py_ssize_t fuel                              # of each
    cdef Chore* chore                                 # what works at them, or NULL
    cdef Py_ssize_t unpaid                            # updates that have brought no fuel so far
    cdef bint closed                                  # only handles read on
    cdef void* stage                                  # the root's stage that seals it, or NULL
    cdef mutex guard                                  # of the following two and of `since`
    cdef vector[Hold*] holds
    cdef vector[Mailbox*] mailboxes

    # Seals consolidated updates as the fresh batch, after absorbing the one before. No reader but
    # handles tells root times below `since` apart.
    cdef int seal(self, const Updates* updates, uint64_t since) except -1 nogil
    # The same of updates in any order, which are lost, and of many in several parts, by all threads.
    cdef int seal_unsorted(self, Updates* updates, uint64_t since) except -1 nogil
    cdef int seal_together(self, Part* parts, int count, uint64_t since) except -1 nogil
    # Seals a batch that somebody else made, of which it takes a reference of its own.
    cdef int adopt(self, Batch* b, uint64_t since) except -1 nogil
    # Moves the fresh batch into the layers, and merges in proportion to its size.
    cdef int absorb(self, uint64_t since) except -1 nogil
    # Takes over what helpers have merged, once they have done all that they were to, and lets them go on with what
    # is due then; whether anything has become one layer.
    cdef int take_merged(self) except -1 nogil
    # Lets readers see the layers; the caller holds the GIL, as readers do. Call `prepare` before,
    # for all traces: it is what memory can be too short for.
    cdef int prepare(self) except -1
    cdef void publish(self) noexcept
    # Puts every batch that is still of use into `into`, each once.
    cdef int held(self, vector[Batch*]* into) except -1 nogil
    # The times as of which a new handle may read: those from `since` on.
    cdef Antichain readable(self)

    # The spine's own.
    cdef bint opens(self, Py_ssize_t updates, uint64_t since) except -1 nogil
    cdef int begin(self, Batch* b) except -1 nogil
    cdef int deliver(self, Batch* b) except -1 nogil
    cdef void advance(self, uint64_t root) noexcept nogil
    cdef bint mergeable(self) noexcept nogil
    cdef bint merging(self, const Batch* b) noexcept nogil
    cdef bint may_append(self, const Batch* elder, const Batch* younger) noexcept nogil
    cdef bint outgrows(self, const Batch* elder, const Batch* younger) noexcept nogil
    cdef bint may_go_on(self, Py_ssize_t inserted) noexcept nogil
    cdef int merge_small(self, Py_ssize_t inserted) except -1 nogil
    cdef size_t waiting(self) noexcept nogil
    cdef int sum_waiting(self) except -1 nogil
    cdef int merge_last(self) except -1 nogil
    cdef void replace(self, size_t i, size_t count, Batch* merged) noexcept nogil
    cdef int start_merges(self) except -1 nogil
    cdef void begin_work(self, Py_ssize_t fuel) noexcept nogil
    cdef Py_ssize_t end_work(self) noexcept nogil
    cdef Py_ssize_t finish_merges(self) noexcept nogil
    cdef void forget(self) noexcept nogil
    cdef void release_unread(self) noexcept

    # For handles and subscriptions, which come between steps and may go at any time.
    cdef int enter(self, Hold* hold) except -1
    cdef int move(self, Hold* hold, bint logical, const uint64_t* since) except -1
    cdef void leave(self, Hold* hold) noexcept
    cdef int subscribe(self, Mailbox* mailbox) except -1
    cdef void unsubscribe(self, Mailbox* mailbox) noexcept
