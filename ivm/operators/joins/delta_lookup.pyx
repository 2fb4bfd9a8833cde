"""A look-up of a delta join's path: a collection meets an arrangement, without a state.

A delta join of R_1 .. R_n has one path for each i: Δ(R_1 ⋈ .. ⋈ R_n) = Σ_i R_1' ⋈ .. ⋈ R_{i-1}' ⋈ ΔR_i ⋈
R_{i+1} ⋈ .. ⋈ R_n, with R' = R + ΔR. The path of i starts from the new updates of R_i and looks up each R_j
as it is now for j < i, and as it was before this activation for j > i. So every n-tuple of updates with a new
member is made exactly once: of three relations of which the first two changed, a tuple of both changes is
made by path 2. Its time is the least upper bound of its members'; in a loop that may be a later round, and
the tuple flows on at once.

Rows of the source begin with the key's words. They are sorted, and both sides gallop, or few rows are sought
by probes: the work is at most linear in the smaller side, up to a logarithm, plus the output. (Shared
arrangements, VLDB 2020, section 5.3.1, has the join of two.)
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from ivm.operators.base.operator cimport Operator, Reader, Region, read_alone, spend
from ivm.rows.packing cimport Packing, pack
from ivm.rows.updates cimport Updates, append, empty_updates, push, release, update_at
from ivm.trace.batch cimport (
    Batch, diff_of, first_update, first_val, key_at, seek_key, time_of, val_at,
)
from ivm.trace.counts cimport product_of
from ivm.trace.probe cimport GROUP, SPARSE, probe
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words, join_into


cdef class Lookup(Operator):
    """Emits, for each update of `source`, the updates of `reader`'s trace with the same key.

    `packing` makes a row from (source row, value). `older` looks up only the updates from before this
    activation. The output begins with that of `before`, the last look-up of another path that has no other
    reader, if it is not None.
    """

    cdef Operator source
    cdef readonly Reader reader
    cdef Packing packing
    cdef bint older
    cdef Operator before
    cdef Updates copied     # the source's updates, if others read them too
    cdef Updates* sought    # the source's updates, sorted

    def __init__(self, Region region, int row_words, Operator source, Reader reader,
                 Packing packing, bint older, Operator before):
        self.seeks = True
        self.source = source
        self.reader = reader
        self.packing = packing
        self.older = older
        self.before = before
        self.copied = empty_updates(source.out.row_words, region.depth)

    def __dealloc__(self):
        release(&self.copied)

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t given = 0 if self.before is None else self.before.out.length
        return given + self.source.out.length

    cdef int rest(self) except -1 nogil:
        release(&self.copied)
        return Operator.rest(self)

    cdef int step(self) except -1 nogil:
        cdef Batch* b
        self.out.length = 0
        if self.before is not None:
            self.out, self.before.out = self.before.out, self.out
        if self.source.out.length > 0:
            self._sort()
            self.reader.look(self.region)
            for b in self.reader.history:
                self._meet(b)
            if not self.older:
                for b in self.reader.delta:
                    self._meet(b)
        return 0

    cdef int _sort(self) except -1 nogil:
        self.sought = &self.source.out
        if not read_alone(self.source):
            self.copied.length = 0
            if append(&self.copied, self.source.out.words, self.source.out.length) < 0:
                self._no_memory()
            self.sought = &self.copied
        if not self.source.consolidated and consolidate(self.sought) < 0:
            self._no_memory()
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory to sort what a delta join looks up")

    cdef int _meet(self, const Batch* b) except -1 nogil:
        return self._probe(b) if self.sought.length * SPARSE <= b.keys else self._gallop(b)

    cdef int _probe(self, const Batch* b) except -1 nogil:
        cdef Py_ssize_t at[GROUP]
        cdef Py_ssize_t first = 0, start = 0
        cdef int i, n
        while first < self.sought.length:
            n = <int> min(GROUP, self.sought.length - first)
            start = probe(b, update_at(self.sought, first), self.sought.stride,
                          self.sought.length - first, n, start, at)
            for i in range(n):
                if at[i] >= 0:
                    self._tuples(first + i, first + i + 1, b, at[i])
            first += n
        return 0

    cdef int _gallop(self, const Batch* b) except -1 nogil:
        cdef Py_ssize_t i = 0, end, k = 0
        cdef const uint64_t* key
        while i < self.sought.length:
            key = update_at(self.sought, i)
            k = seek_key(b, key, k)
            if k == b.keys:
                break
            if compare_words(key, key_at(b, k), b.key_words) == 0:
                end = i + 1
                while end < self.sought.length and compare_words(
                        update_at(self.sought, end), key, b.key_words) == 0:
                    end += 1
                self._tuples(i, end, b, k)
                i = end
                k += 1
            else:
                i = _seek(self.sought, key_at(b, k), b.key_words, i)
        return 0

    # Emits each of the sought updates from i to `end` with each update of the key at k.
    cdef int _tuples(self, Py_ssize_t i, Py_ssize_t end, const Batch* b, Py_ssize_t k) except -1 nogil:
        cdef Py_ssize_t s, v, u
        cdef const uint64_t* given
        cdef const uint64_t* time
        cdef uint64_t* update
        for s in range(i, end):
            spend(self, first_val(b, k + 1) - first_val(b, k))
            given = update_at(self.sought, s)
            time = given + self.sought.row_words
            for v in range(first_val(b, k), first_val(b, k + 1)):
                for u in range(first_update(b, v), first_update(b, v + 1)):
                    update = push(&self.out)
                    if update == NULL:
                        with gil:
                            raise MemoryError("no memory for a delta join's output")
                    pack(self.packing, given, val_at(b, v), NULL, update)
                    update += self.out.row_words
                    memcpy(update, time, self.out.time_words * sizeof(uint64_t))
                    join_into(update, time_of(b, u), b.time_words)
                    update[self.out.time_words] = <uint64_t> product_of(
                        <int64_t> given[self.sought.stride - 1], diff_of(b, u))
        return 0


# Finds the first update at or after `start` whose row does not begin with less than `key`; by galloping.
cdef Py_ssize_t _seek(const Updates* sorted, const uint64_t* key, int key_words,
                      Py_ssize_t start) noexcept nogil:
    cdef Py_ssize_t step = 1, low = start, high, middle
    if low >= sorted.length or compare_words(update_at(sorted, low), key, key_words) >= 0:
        return low
    while low + step < sorted.length and compare_words(
            update_at(sorted, low + step), key, key_words) < 0:
        low += step
        step *= 2
    high = low + step if low + step < sorted.length else sorted.length
    low += 1
    while low < high:
        middle = low + (high - low) // 2
        if compare_words(update_at(sorted, middle), key, key_words) < 0:
            low = middle + 1
        else:
            high = middle
    return low
