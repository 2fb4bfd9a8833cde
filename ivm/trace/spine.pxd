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


# A hold of a reader on a trace's `since` (see Handle).
cdef struct Hold:
    bint logical                        # it holds back the compaction of times
    uint64_t since[MAX_COORDINATES]     # if so: the reader reads as of no time before this


# The queues into which a trace delivers to a subscription (see Subscription).
cdef struct Mailbox:
    vector[Batch*]* history
    vector[Batch*]* sealed


# A trace is the spine of batches of one collection's arrangement, which all shards read.
#
# `layers` hold the batches from before this activation, larger first; `fresh` (or NULL) is the batch of this
# activation; `published` are the batches that readers beside the workers see, as of the frontier.
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
    cdef Chore* chore                                 # the task of the helpers that work at them, or NULL
    cdef Py_ssize_t unpaid                            # updates that have brought no fuel so far
    cdef bint closed                                  # only handles read on
    cdef void* stage                                  # the root's stage that seals it, or NULL
    cdef mutex guard                                  # of the following two and of `since`
    cdef vector[Hold*] holds
    cdef vector[Mailbox*] mailboxes

    # Seals consolidated updates as the fresh batch, after absorbing the one before. Only handles tell root
    # times below `since` apart.
    cdef int seal(self, const Updates* updates, uint64_t since) except -1 nogil
    # Seal updates in any order, which are consumed, and many updates in several parts, by all threads.
    cdef int seal_unsorted(self, Updates* updates, uint64_t since) except -1 nogil
    cdef int seal_together(self, Part* parts, int count, uint64_t since) except -1 nogil
    # Seals a batch made elsewhere, and takes a reference of its own.
    cdef int adopt(self, Batch* b, uint64_t since) except -1 nogil
    cdef int show(self, const vector[Batch*]& history) except -1 nogil
    # Moves the fresh batch into the layers, and merges in proportion to its size.
    cdef int absorb(self, uint64_t since) except -1 nogil
    # Takes over finished merges once helpers have used up their fuel, and lets them go on with merges that
    # are due then. True if any two batches have become one layer.
    cdef int take_merged(self) except -1 nogil
    # Lets readers see the layers; the caller holds the GIL, as readers do. Call `prepare` before, for all
    # traces: it alone can run out of memory.
    cdef int prepare(self) except -1
    cdef void publish(self) noexcept
    # Appends every batch that is still of use to `into`, each once.
    cdef int held(self, vector[Batch*]* into) except -1 nogil
    # The bytes of its layers and of the merges in progress.
    cdef size_t held_bytes(self) noexcept nogil
    # The frontier as of which a new handle may read: the times from `since` on.
    cdef Antichain readable(self)

    # The spine's own methods.
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
