"""Where updates come in: the rows of Arrow batches go to the queues of an input."""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.input cimport Input
from ivm.rows.buffers cimport start_of
from ivm.rows.codec cimport encode_to_queues
from ivm.rows.layout cimport Layout
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport Updates


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
        cdef uint64_t constant = 0
        cdef size_t s
        cdef Input shard
        if batch.num_rows == 0:
            return
        if isinstance(times, int):
            constant = times
        else:
            at = <const uint64_t*> start_of(times)
        for s in range(self.queues.size()):
            self.lengths[s] = self.queues[s].length
        for shard in self.inputs:
            shard.ordered &= at == NULL and shard.follows(constant)
        try:
            encode_to_queues(batch, self.layout, self.interner, at, constant,
                             <const int64_t*> start_of(diffs), 0, self.queues.data(),
                             <int> self.queues.size())
        except BaseException:
            for s in range(self.queues.size()):
                self.queues[s].length = self.lengths[s]
            raise
