"""Look-ups of many keys at once in the published batches of an arrangement.

The keys are sorted like the arrangement's and sealed as a batch of their own, whose values are the
keys' positions: so equal keys come together, and each published batch is read once, in one
direction. A key's rows may be spread over batches, where their diffs have to add up; most keys are
in one batch only, and their rows are written as they are found.

As in `ivm.runtime.readers` the batches are taken while holding the GIL and read without it.
"""

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

import numpy as np

from ivm.rows.codec cimport decode, encode
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing, pack
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates, append, empty_updates, push, release, update_at
from ivm.runtime.readers cimport refuse_overflow
from ivm.threads.team cimport watch_overflow
from ivm.trace.batch cimport (
    Batch, count_as_of, drop, first_val, key_at, retain, seek_key, val_at,
)
from ivm.trace.building.build cimport build_batch
from ivm.trace.probe cimport GROUP, probe
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words
from ivm.trace.spine cimport Trace

cdef enum:
    PROBED = 4      # from so many keys for each sought one on, probes are cheaper than galloping

cdef uint64_t ALL = 0xFFFFFFFFFFFFFFFF


# The batches to read, and the keys that are sought in them.
cdef class _Search:
    cdef vector[Batch*] published
    cdef vector[Py_ssize_t] start   # of each batch: where to seek the next group of keys from
    cdef vector[Py_ssize_t] at      # GROUP positions for each batch, -1 where it does not have the key
    cdef Updates given              # words of keys, each followed by its position
    cdef Batch* sought              # the same, once all are given; NULL: none

    def __cinit__(self, Trace trace, int key_words):
        cdef Batch* b
        self.given = empty_updates(key_words + 1, 1)
        self.sought = NULL
        self.published.assign(trace.published.begin(), trace.published.end())
        for b in self.published:
            retain(b)
        self.start.resize(self.published.size(), 0)
        self.at.resize(GROUP * self.published.size(), 0)

    def __dealloc__(self):
        cdef Batch* b
        for b in self.published:
            drop(b)
        drop(self.sought)
        release(&self.given)

    # Takes the keys of a RecordBatch, each with its position, laid out by `key`.
    cdef int take(self, keys, Layout key, Interner interner) except -1:
        cdef Py_ssize_t i
        encode(keys, key, interner, NULL, 0, NULL, 1, &self.given)
        for i in range(self.given.length):
            update_at(&self.given, i)[key.words] = <uint64_t> i
        return 0

    cdef int seal(self) except -1 nogil:
        if consolidate(&self.given) < 0:
            _no_memory()
        if self.given.length > 0:
            self.sought = build_batch(&self.given, self.given.row_words - 1)
            if self.sought == NULL:
                _no_memory()
        return 0

    # Seeks the keys [first, first + n), n <= GROUP, in every batch.
    cdef void seek(self, Py_ssize_t first, int n) noexcept nogil:
        cdef size_t j
        for j in range(self.published.size()):
            self.start[j] = _seek(self.published[j], self.sought, first, n, self.start[j],
                                  &self.at[GROUP * j])


# As `probe` does, by whichever way is cheaper.
cdef Py_ssize_t _seek(const Batch* b, const Batch* sought, Py_ssize_t first, int n,
                      Py_ssize_t start, Py_ssize_t* at) noexcept nogil:
    cdef int i
    if b.keys >= PROBED * sought.keys:
        return probe(b, key_at(sought, first), b.key_words, sought.keys - first, n, start, at)
    for i in range(n):
        start = seek_key(b, key_at(sought, first + i), start)
        at[i] = start
        if start == b.keys or compare_words(key_at(b, start), key_at(sought, first + i),
                                            b.key_words) != 0:
            at[i] = -1
    return start


# The rows found, with how often each is there as its diff, and which key each has; keys are numbered
# in their order.
cdef class _Answer:
    cdef Updates rows
    cdef Updates spread             # the rows of one key, from several batches
    cdef vector[int64_t] owners
    cdef Packing packing

    def __cinit__(self, Packing packing, int words):
        self.rows = empty_updates(words, 0)
        self.spread = empty_updates(words, 0)
        self.packing = packing

    def __dealloc__(self):
        release(&self.rows)
        release(&self.spread)

    cdef int read(self, _Search search) except -1 nogil:
        cdef Py_ssize_t first = 0, keys = 0 if search.sought == NULL else search.sought.keys
        cdef int i, n
        while first < keys:
            n = <int> min(GROUP, keys - first)
            search.seek(first, n)
            for i in range(n):
                self._collect(search, i)
                self.owners.resize(self.rows.length, first + i)
            first += n
        return 0

    # Takes the rows of the i-th of the keys that were sought last.
    cdef int _collect(self, _Search search, int i) except -1 nogil:
        cdef size_t j
        cdef int found = 0
        for j in range(search.published.size()):
            found += search.at[GROUP * j + i] >= 0
        self.spread.length = 0
        for j in range(search.published.size()):
            if search.at[GROUP * j + i] >= 0:
                self._take(search.published[j], search.at[GROUP * j + i],
                           &self.rows if found == 1 else &self.spread)
        if found > 1:
            if consolidate(&self.spread) < 0 or append(
                    &self.rows, self.spread.words, self.spread.length) < 0:
                _no_memory()
        return 0

    cdef int _take(self, const Batch* b, Py_ssize_t k, Updates* rows) except -1 nogil:
        cdef Py_ssize_t v
        cdef int64_t count
        cdef uint64_t* row
        for v in range(first_val(b, k), first_val(b, k + 1)):
            count = count_as_of(b, v, &ALL)
            if count == 0:
                continue
            row = push(rows)
            if row == NULL:
                _no_memory()
            pack(self.packing, key_at(b, k), val_at(b, v), NULL, row)
            row[rows.stride - 1] = <uint64_t> count
        return 0


cdef int _no_memory() except -1 nogil:
    with gil:
        raise MemoryError("no memory to look keys up")


def look_up(Trace trace, Packing packing, Layout layout, Interner interner, keys, Layout key):
    """The published rows of `trace` with each key: (RecordBatch, counts, owners, order, starts).

    `packing` makes a row of `layout` from (key, value); `keys` is a RecordBatch of the key's
    columns, laid out by `key`. For what is returned see `ivm.results.Found`. Raises SchemaMismatch.
    """
    cdef _Answer answer = _Answer(packing, layout.words)
    cdef _Search search = _Search(trace, key.words)
    cdef int overflowed = 0
    cdef int* before = watch_overflow(&overflowed)
    interner.open_snapshot()
    try:
        search.take(keys, key, interner)
        with nogil:
            search.seal()
            answer.read(search)
        refuse_overflow(overflowed)
        rows = decode(answer.rows.words, answer.rows.length, answer.rows.stride, layout, interner)
    finally:
        watch_overflow(before)
        interner.close_snapshot()
    return rows, *_numbered(answer), *_grouped(search, keys.num_rows)


cdef object _numbered(_Answer answer):
    """The counts and the owners of the rows."""
    cdef Py_ssize_t i
    counts = np.empty(answer.rows.length, np.int64)
    owners = np.empty(answer.rows.length, np.int64)
    cdef int64_t[::1] count = counts
    cdef int64_t[::1] owner = owners
    for i in range(answer.rows.length):
        count[i] = <int64_t> answer.rows.words[(i + 1) * answer.rows.stride - 1]
        owner[i] = answer.owners[i]
    return counts, owners


cdef object _grouped(_Search search, Py_ssize_t n):
    """The positions of the given keys, equal ones together, and where each group starts."""
    cdef const Batch* b = search.sought
    cdef Py_ssize_t i, groups = 0 if b == NULL else b.keys
    order = np.empty(n, np.int64)
    starts = np.empty(groups + 1, np.int64)
    cdef int64_t[::1] position = order
    cdef int64_t[::1] start = starts
    for i in range(groups):
        start[i] = first_val(b, i)
    for i in range(n):
        position[i] = <int64_t> val_at(b, i)[0]
    start[groups] = n
    return order, starts
