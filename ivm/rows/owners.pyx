"""Owners: the process of a cluster that owns each row of an Arrow batch."""

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

import numpy as np

from ivm.memory.buffers cimport start_of
from ivm.rows.codec cimport encode
from ivm.rows.hashing cimport Partitioner, shard_of
from ivm.rows.interner cimport Interner
from ivm.rows.layout cimport Layout
from ivm.rows.updates cimport Updates, empty_updates, release


def owners_of(batch, schema, key, size_t members):
    """The number of the process, of `members`, that owns each row by its columns `key`.

    Raises SchemaMismatch for rows that are not of `schema`, and MemoryError.
    """
    cdef Layout layout = Layout(schema)
    cdef Interner interner = Interner()
    cdef Partitioner partitioner = Partitioner(layout, key, interner)
    cdef Updates rows = empty_updates(layout.words, 1)
    cdef Py_ssize_t i, count = batch.num_rows
    cdef vector[uint64_t] hashes
    owners = np.zeros(count, np.int64)
    cdef int64_t* owner = <int64_t*> start_of(owners)
    try:
        encode(batch, layout, interner, NULL, 0, NULL, 1, &rows)
        hashes.resize(count)
        partitioner.hash_rows(rows.words, count, rows.stride, hashes.data())
        for i in range(count):
            owner[i] = <int64_t> shard_of(hashes[i], members)
    finally:
        release(&rows)
    return owners
