"""Bounded rows: those on one side of a bound that changes, at a cost of the rows that it passes.

A join of rows A with bounds B on a > b pairs all with all. Where only A's columns are kept, rows are counted by
the bounds that they are above: at time t row a is there Σ of B's counts below a times. So a bound that goes from
b to b' changes the rows in (b, b'] alone, which lie together in a trace by the values that are compared:

    Δ(A ⋈ B) at t = ΔA at t × (B before t) + (A up to t) × ΔB at t

Root times are totally ordered, and taken one after another. With values 1, 4 and 6 above 3, a bound of 5 takes
out 4; then 4 and 7 come, and 7 is there. There is one row of bounds, or few: each new row is compared with all.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport KEPT_UPDATES, Operator, Reader, Region, spend
from ivm.rows.packing cimport Packing, pack
from ivm.rows.updates cimport Updates, bytes_of, empty_updates, push, release, update_at
from ivm.trace.batch cimport Batch, diff_of, first_update, first_val, key_at, seek_key, time_of, val_at
from ivm.trace.counts cimport product_of, sum_of
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words


cdef class BoundedRows(Operator):
    """Emits the rows of `reader`'s trace that are above a bound, or below one, as often as there are such bounds.

    The trace's key is the value that is compared. `bounds` are the stages of all shards that give the bounds,
    rows of the key's words. A row that equals its bound counts if `equal`. `packing` makes a row from (key, value).
    """

    cdef readonly Reader reader
    cdef tuple sources
    cdef vector[void*] given        # borrowed from `sources`
    cdef bint above
    cdef bint equal
    cdef Packing packing
    cdef Updates bounds             # those before the present time, with their counts
    cdef Updates changes            # (time, bound) of the step, ascending
    cdef Updates news               # (time, batch, key, value) of the step's new rows, ascending

    def __init__(self, Region region, int row_words, Reader reader, tuple bounds, bint above, bint equal,
                 Packing packing):
        cdef int words = reader.trace.key_words
        self.seeks = True
        self.reader = reader
        self.sources = bounds
        for source in bounds:
            self.given.push_back(<void*> <Operator?> source)
        self.above = above
        self.equal = equal
        self.packing = packing
        self.bounds = empty_updates(words, 0)
        self.changes = empty_updates(1 + words, 0)
        self.news = empty_updates(4, 0)

    def __dealloc__(self):
        release(&self.bounds)
        release(&self.changes)
        release(&self.news)

    # The first shard takes all: few rows are between two bounds.
    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef void* source
        if self.shard == 0:
            total = self.reader.waiting(self.region)
            for source in self.given:
                total += (<Operator> source).out.length
        return total

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out) + bytes_of(&self.bounds) + bytes_of(&self.changes) + bytes_of(&self.news)

    cdef int rest(self) except -1 nogil:
        self.changes.length = self.news.length = 0
        if self.changes.capacity > KEPT_UPDATES:
            release(&self.changes)
        if self.news.capacity > KEPT_UPDATES:
            release(&self.news)
        return Operator.rest(self)

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i = 0, j = 0, end
        cdef uint64_t time
        self.out.length = self.changes.length = self.news.length = 0
        if self.shard != 0:
            return 0
        self.reader.look(self.region)
        self._read_bounds()
        self._read_rows()
        while i < self.news.length or j < self.changes.length:
            if j == self.changes.length or (i < self.news.length and self._new(i)[0] <= self._change(j)[0]):
                self._meet_bounds(self._new(i))
                i += 1
                continue
            time = self._change(j)[0]
            end = j + 1
            while end < self.changes.length and self._change(end)[0] == time:
                end += 1
            self._meet_rows(j, end)
            self._take(j, end)
            j = end
        return 0

    cdef inline const uint64_t* _new(self, Py_ssize_t i) noexcept nogil:
        return update_at(&self.news, i)

    cdef inline const uint64_t* _change(self, Py_ssize_t j) noexcept nogil:
        return update_at(&self.changes, j)

    cdef inline uint64_t _time(self, const Batch* b, Py_ssize_t u) noexcept nogil:
        return max(time_of(b, u)[0], self.region.lower)

    # Fills `changes`.
    cdef int _read_bounds(self) except -1 nogil:
        cdef const Updates* some
        cdef uint64_t* change
        cdef Py_ssize_t i
        cdef void* source
        for source in self.given:
            some = &(<Operator> source).out
            for i in range(some.length):
                change = push(&self.changes)
                if change == NULL:
                    self._no_memory()
                change[0] = update_at(some, i)[some.row_words]
                memcpy(change + 1, update_at(some, i), some.row_words * sizeof(uint64_t))
                change[self.changes.stride - 1] = update_at(some, i)[some.stride - 1]
        if consolidate(&self.changes) < 0:
            self._no_memory()
        return 0

    # Fills `news`.
    cdef int _read_rows(self) except -1 nogil:
        cdef const Batch* b
        cdef uint64_t* new
        cdef size_t d
        cdef Py_ssize_t k, v, u
        for d in range(self.reader.delta.size()):
            b = self.reader.delta[d]
            for k in range(b.keys):
                for v in range(first_val(b, k), first_val(b, k + 1)):
                    for u in range(first_update(b, v), first_update(b, v + 1)):
                        new = push(&self.news)
                        if new == NULL:
                            self._no_memory()
                        new[0] = self._time(b, u)
                        new[1] = d
                        new[2] = <uint64_t> k
                        new[3] = <uint64_t> v
                        new[4] = <uint64_t> diff_of(b, u)
        if consolidate(&self.news) < 0:
            self._no_memory()
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for rows on one side of a bound")

    # Emits a new row for the bounds from before its time.
    cdef int _meet_bounds(self, const uint64_t* new) except -1 nogil:
        cdef const Batch* b = self.reader.delta[<size_t> new[1]]
        cdef const uint64_t* key = key_at(b, <Py_ssize_t> new[2])
        cdef int64_t count = 0
        cdef Py_ssize_t i
        cdef int order
        for i in range(self.bounds.length):
            order = compare_words(key, update_at(&self.bounds, i), b.key_words)
            if self.equal if order == 0 else (order > 0) == self.above:
                count = sum_of(count, <int64_t> update_at(&self.bounds, i)[b.key_words])
        if count == 0:
            return 0
        return self._put(key, val_at(b, <Py_ssize_t> new[3]), new[0], product_of(count, <int64_t> new[4]))

    # Emits all rows up to their time for the changes from the j-th to before `end`, of one time.
    cdef int _meet_rows(self, Py_ssize_t j, Py_ssize_t end) except -1 nogil:
        cdef Batch* b
        for b in self.reader.history:
            self._meet(b, j, end, False)
        for b in self.reader.delta:
            self._meet(b, j, end, True)
        return 0

    # Rows between two of these bounds all have the same bounds below them.
    cdef int _meet(self, const Batch* b, Py_ssize_t j, Py_ssize_t end, bint is_new) except -1 nogil:
        cdef Py_ssize_t i, first = 0, next
        cdef int64_t total = 0, below = 0
        for i in range(j, end):
            total = sum_of(total, self._diff(i))
        for i in range(j, end + 1):
            next = self._first_beyond(b, self._change(i) + 1, first) if i < end else b.keys
            self._emit(b, first, next, self._change(j)[0], below if self.above else total - below, is_new)
            first = next
            if i < end:
                below = sum_of(below, self._diff(i))
        return 0

    cdef inline int64_t _diff(self, Py_ssize_t j) noexcept nogil:
        return <int64_t> self._change(j)[self.changes.stride - 1]

    # The first key at or after the place `start` that is above the bound, or equals it and counts as that.
    cdef Py_ssize_t _first_beyond(self, const Batch* b, const uint64_t* bound, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t k = seek_key(b, bound, start)
        if self.above != self.equal and k < b.keys and compare_words(key_at(b, k), bound, b.key_words) == 0:
            k += 1
        return k

    # Emits the rows of the keys from `k` to before `end` as they are at `time`, `times` over.
    cdef int _emit(self, const Batch* b, Py_ssize_t k, Py_ssize_t end, uint64_t time, int64_t times,
                   bint is_new) except -1 nogil:
        cdef Py_ssize_t v, u
        cdef int64_t count
        if times == 0:
            return 0
        for k in range(k, end):
            for v in range(first_val(b, k), first_val(b, k + 1)):
                count = 0
                for u in range(first_update(b, v), first_update(b, v + 1)):
                    if not is_new or self._time(b, u) <= time:
                        count = sum_of(count, diff_of(b, u))
                if count != 0:
                    self._put(key_at(b, k), val_at(b, v), time, product_of(count, times))
        return 0

    cdef int _put(self, const uint64_t* key, const uint64_t* val, uint64_t time, int64_t diff) except -1 nogil:
        cdef uint64_t* update = push(&self.out)
        if update == NULL:
            self._no_memory()
        spend(self, 1)
        pack(self.packing, key, val, NULL, update)
        update[self.out.row_words] = time
        update[self.out.row_words + 1] = <uint64_t> diff
        return 0

    # Adds the changes from the j-th to before `end` to the bounds.
    cdef int _take(self, Py_ssize_t j, Py_ssize_t end) except -1 nogil:
        cdef uint64_t* bound
        cdef Py_ssize_t i
        for i in range(j, end):
            bound = push(&self.bounds)
            if bound == NULL:
                self._no_memory()
            memcpy(bound, self._change(i) + 1, self.bounds.row_words * sizeof(uint64_t))
            bound[self.bounds.row_words] = <uint64_t> self._diff(i)
        if consolidate(&self.bounds) < 0:
            self._no_memory()
        return 0
