"""The feed: packs the rows of Arrow batches and puts them into the queues of an input."""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.arranging.input cimport Input
from ivm.memory.buffers cimport start_of
from ivm.rows.codec cimport encode_to_queues
from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates, is_bare
from ivm.threads.team cimport share_work

cdef enum:
    WORTH_BARE = 1 << 15    # rows for which an empty queue is made one of bare rows
    STRETCH = 1 << 10       # diffs that are looked at before any is told from 1


@cython.freelist(16)    # they come and go with dataflows
cdef class Intake:
    """Queues rows of `layout` at `inputs`, the operators of all shards."""

    cdef readonly tuple inputs
    cdef Layout layout
    cdef Interner interner
    cdef vector[Updates*] queues    # of `inputs`
    cdef vector[Py_ssize_t] lengths # of the queues

    def __init__(self, tuple inputs, Layout layout, Interner interner):
        cdef Input shard
        self.inputs = inputs
        self.layout = layout
        self.interner = interner
        for shard in inputs:
            self.queues.push_back(&shard.queue)
        self.lengths.resize(self.queues.size())

    def feed(self, batch, times, diffs):
        """Queue the rows of a RecordBatch; `times` is an integer or one uint64 for each row.

        `diffs` has one int64 for each row; arrays are contiguous.

        Raises SchemaMismatch, MemoryError; then nothing is queued.
        """
        cdef const uint64_t* at = NULL
        cdef const int64_t* each
        cdef uint64_t constant = 0
        cdef Py_ssize_t rows = batch.num_rows
        cdef size_t s
        cdef Input shard
        cdef bint bare
        if rows == 0:
            return
        each = <const int64_t*> start_of(diffs)
        if isinstance(times, int):
            constant = times
        else:
            at = <const uint64_t*> start_of(times)
        bare = at == NULL and self.may_be_bare(rows, constant) and are_ones(
            each, rows, <int> self.queues.size())
        for shard in self.inputs:
            if bare or is_bare(&shard.queue):
                shard.make_bare(bare, constant)
        for s in range(self.queues.size()):
            self.lengths[s] = self.queues[s].length
        for shard in self.inputs:
            shard.ordered &= at == NULL and shard.follows(constant)
        try:
            encode_to_queues(batch, self.layout, self.interner, at, constant, each, 0, self.queues.data(),
                             <int> self.queues.size())
        except BaseException:
            for s in range(self.queues.size()):
                self.queues[s].length = self.lengths[s]
            raise

    # Whether so many rows of one time may queue as bare ones, if they are inserted.
    cdef bint may_be_bare(self, Py_ssize_t rows, uint64_t time) noexcept:
        cdef Input shard
        cdef bint worth = rows >= WORTH_BARE
        for shard in self.inputs:
            if not shard.may_be_bare(time):
                return False
            worth |= shard.load() > 0
        return worth


# Diffs that threads look at, a share each, and what came of it.
cdef struct Looking:
    const int64_t* diffs
    Py_ssize_t count
    int shares
    vector[int] others      # of each share: not 0 if one is not 1


cdef bint are_ones(const int64_t* diffs, Py_ssize_t count, int threads) except -1:
    cdef Looking looking
    cdef int others = 0, share
    looking.diffs = diffs
    looking.count = count
    looking.shares = threads if count >= WORTH_BARE else 1
    looking.others.resize(looking.shares)
    with nogil:
        share_work(look_for_others, &looking, looking.shares, looking.shares)
    for share in looking.others:
        others |= share
    return others == 0


cdef int look_for_others(void* context, Py_ssize_t share) except -1 nogil:
    cdef Looking* looking = <Looking*> context
    cdef Py_ssize_t i = share * looking.count // looking.shares
    cdef Py_ssize_t end = (share + 1) * looking.count // looking.shares
    cdef int64_t others = 0
    cdef Py_ssize_t stop
    while i < end and others == 0:
        stop = min(end, i + STRETCH)
        while i < stop:
            others |= looking.diffs[i] ^ 1
            i += 1
    looking.others[share] = others != 0
    return 0
