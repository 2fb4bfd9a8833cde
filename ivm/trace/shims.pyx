"""Test shims: Python functions over the trace's kernels, which the engine calls without the GIL.

Updates are uint64 arrays of shape (n, row words + time words + 1): rows, times, diffs.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

import numpy as np

from ivm.rows.hashing cimport Partitioner
from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates, append, empty_bare, empty_updates, push, release
from ivm.trace.batch cimport (
    Batch, batch_bytes, count_as_of, diff_of, drop, first_update, first_val, key_at, seek_key,
    time_of, val_at,
)
from ivm.trace.sorting.partition cimport Part, deal_out
from ivm.trace.probe cimport GROUP, probe
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.subscription cimport Subscription
from ivm.trace.times cimport MAX_COORDINATES, compare_words
from ivm.trace.spine cimport Trace


cdef Updates _read(array, int row_words) except *:
    cdef uint64_t[:, ::1] given = np.ascontiguousarray(array, np.uint64)
    cdef Updates updates = empty_updates(row_words, <int> given.shape[1] - row_words - 1)
    if given.shape[0] > 0 and append(&updates, &given[0, 0], given.shape[0]) < 0:
        raise MemoryError("no memory for a test's updates")
    return updates


cdef object _write(const Updates* updates):
    cdef uint64_t[:, ::1] out
    result = np.empty((updates.length, updates.stride), np.uint64)
    out = result
    if updates.length > 0:
        memcpy(&out[0, 0], updates.words, result.nbytes)
    return result


def consolidated(array, int row_words):
    """The updates sorted by (row, time) with equal ones added up and none zero."""
    cdef Updates updates = _read(array, row_words)
    cdef int failed
    try:
        with nogil:
            failed = consolidate(&updates)
        if failed != 0:
            raise MemoryError("no memory to sort")
        return _write(&updates)
    finally:
        release(&updates)


def dealt(parts, int row_words, key, Layout layout, Interner interner, int shards):
    """The updates of each shard, partitioned from (updates, negated) of `parts` by the columns `key`."""
    cdef vector[Updates] given, queues
    cdef vector[Updates*] targets
    cdef vector[Part] listed
    cdef Partitioner partitioner = Partitioner(layout, key, interner)
    cdef size_t i
    for array, _ in parts:
        given.push_back(_read(array, row_words))
    for i, (_, negated) in enumerate(parts):
        listed.push_back(Part(&given[i], &given[i], negated, True))
    queues.resize(shards, empty_updates(row_words, given[0].time_words))
    for i in range(queues.size()):
        targets.push_back(&queues[i])
    try:
        with nogil:
            deal_out(listed.data(), <int> listed.size(), partitioner, targets.data(), shards)
        return [_write(&queues[i]) for i in range(queues.size())]
    finally:
        for i in range(given.size()):
            release(&given[i])
        for i in range(queues.size()):
            release(&queues[i])


def seal(Trace trace, array, uint64_t since):
    """Seal the consolidated updates as the trace's fresh batch."""
    cdef Updates updates = _read(array, trace.key_words + trace.val_words)
    try:
        with nogil:
            consolidate(&updates)
            trace.seal(&updates, since)
    finally:
        release(&updates)


def seal_unsorted(Trace trace, array, uint64_t since):
    """Seal the updates, in any order, as the trace's fresh batch."""
    cdef Updates updates = _read(array, trace.key_words + trace.val_words)
    try:
        with nogil:
            trace.seal_unsorted(&updates, since)
    finally:
        release(&updates)


def seal_together(Trace trace, arrays, uint64_t since):
    """Seal the updates of all arrays, in any order, as the trace's fresh batch, by its threads."""
    cdef vector[Updates] given
    cdef vector[Part] parts
    cdef size_t i
    for array in arrays:
        given.push_back(_read(array, trace.key_words + trace.val_words))
    for i in range(given.size()):
        parts.push_back(Part(&given[i], &given[i], False, True))
    try:
        with nogil:
            trace.seal_together(parts.data(), <int> parts.size(), since)
    finally:
        for i in range(given.size()):
            release(&given[i])


def seal_bare(Trace trace, arrays, uint64_t time, uint64_t since):
    """Seal bare rows as the trace's fresh batch: of several arrays, by its threads."""
    cdef vector[Updates] given
    cdef vector[Part] parts
    cdef const uint64_t[:, ::1] rows
    cdef int row_words = trace.key_words + trace.val_words
    cdef size_t i
    given.resize(len(arrays), empty_bare(row_words, time))
    try:
        for i, array in enumerate(arrays):
            rows = array
            if rows.shape[1] != row_words:
                raise ValueError(f"{rows.shape[1]} words were given for a row of {row_words}")
            if rows.shape[0] > 0 and append(&given[i], &rows[0, 0], rows.shape[0]) < 0:
                raise MemoryError("no memory for a test's rows")
            parts.push_back(Part(&given[i], &given[i], False, True))
        with nogil:
            if parts.size() == 1:
                trace.seal_unsorted(&given[0], since)
            else:
                trace.seal_together(parts.data(), <int> parts.size(), since)
    finally:
        for i in range(given.size()):
            release(&given[i])


def share(Trace trace, int threads):
    """Let so many threads seal and merge many updates."""
    trace.threads = threads


def absorb(Trace trace, uint64_t since):
    """Move the fresh batch into the layers."""
    with nogil:
        trace.absorb(since)


def publish(Trace trace):
    """Let readers see the layers."""
    trace.prepare()
    trace.publish()


cdef object _updates_of(const Batch* b):
    cdef Updates updates = empty_updates(b.key_words + b.val_words, b.time_words)
    cdef Py_ssize_t k, v, u
    cdef uint64_t* row
    try:
        for k in range(b.keys):
            for v in range(first_val(b, k), first_val(b, k + 1)):
                for u in range(first_update(b, v), first_update(b, v + 1)):
                    row = push(&updates)
                    if row == NULL:
                        raise MemoryError("no memory to read a batch")
                    memcpy(row, key_at(b, k), b.key_words * sizeof(uint64_t))
                    row += b.key_words
                    memcpy(row, val_at(b, v), b.val_words * sizeof(uint64_t))
                    row += b.val_words
                    memcpy(row, time_of(b, u), b.time_words * sizeof(uint64_t))
                    row[b.time_words] = <uint64_t> diff_of(b, u)
        return _write(&updates)
    finally:
        release(&updates)


cdef list _contents(vector[Batch*]& batches):
    cdef Batch* b
    return [_updates_of(b) for b in batches]


def layers(Trace trace):
    """The updates of each layer, the oldest first, and at last of the fresh batch."""
    cdef vector[Batch*] batches = trace.layers
    if trace.fresh != NULL:
        batches.push_back(trace.fresh)
    return _contents(batches)


def published(Trace trace):
    """The updates of each published batch."""
    return _contents(trace.published)


def held(Trace trace) -> tuple[int, int]:
    """The number and bytes of the batches that are still of use."""
    cdef vector[Batch*] batches
    cdef Batch* b
    trace.held(&batches)
    return batches.size(), sum([batch_bytes(b) for b in batches])


def as_of(Trace trace, time) -> dict:
    """The collection of the layers as of `time`: the count of each (key, value)."""
    cdef uint64_t words[MAX_COORDINATES]
    cdef vector[Batch*] batches = trace.layers
    cdef Batch* b
    cdef Py_ssize_t k, v, i
    counts = {}
    for i in range(trace.time_words):
        words[i] = time[i]
    if trace.fresh != NULL:
        batches.push_back(trace.fresh)
    for b in batches:
        for k in range(b.keys):
            for v in range(first_val(b, k), first_val(b, k + 1)):
                row = (*[key_at(b, k)[i] for i in range(b.key_words)],
                       *[val_at(b, v)[i] for i in range(b.val_words)])
                counts[row] = counts.get(row, 0) + count_as_of(b, v, words)
    return {row: count for row, count in counts.items() if count != 0}


def sought(Trace trace, Trace keys) -> tuple[list[int], list[int]]:
    """The positions in the first layer of `trace` of the keys of `keys`' first layer, or -1.

    Once by galloping, and once by probes.
    """
    cdef const Batch* b = trace.layers[0]
    cdef const Batch* few = keys.layers[0]
    cdef Py_ssize_t at[GROUP]
    cdef Py_ssize_t first, start = 0, k = 0
    galloped, probed = [], []
    for first in range(few.keys):
        k = seek_key(b, key_at(few, first), k)
        found = k < b.keys and compare_words(key_at(b, k), key_at(few, first), b.key_words) == 0
        galloped.append(k if found else -1)
    for first in range(0, few.keys, GROUP):
        n = min(GROUP, few.keys - first)
        start = probe(b, key_at(few, first), few.key_words, few.keys - first, n, start, at)
        probed += [at[i] for i in range(n)]
    return galloped, probed


def history(Subscription subscription):
    """The updates of each batch of a subscription's history."""
    return _contents(subscription.history)


def take(Subscription subscription):
    """The updates of each batch sealed since the last call."""
    cdef vector[Batch*] batches
    cdef Batch* b
    subscription.take(batches)
    try:
        return _contents(batches)
    finally:
        for b in batches:
            drop(b)


def import_into(Subscription subscription, Trace trace, uint64_t since):
    """Adopt the history, then all that was sealed since the last call, into another trace."""
    cdef vector[Batch*] batches
    cdef Batch* b
    subscription.take(batches)
    try:
        if trace.layers.empty() and trace.fresh == NULL:
            for b in subscription.history:
                trace.adopt(b, since)
        for b in batches:
            trace.adopt(b, since)
    finally:
        for b in batches:
            drop(b)
