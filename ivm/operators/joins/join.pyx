"""Join of two arrangements on their keys.

Δ(A ⋈ B) = ΔA ⋈ B + (A + ΔA) ⋈ ΔB: new left updates meet the right's history, then new right updates meet all
of the left, so that each pair of updates meets once. A pair's time is the least upper bound of both times:
(3, 0) and (1, 2) meet at (3, 2). Inside a loop this may be a later round, and the pair flows on at once: only
operators that evaluate at a time wait for it. The keys of the smaller side are sought in the larger one, by
galloping or, if they are few, by probes; so the work is at most linear in the smaller side, up to a
logarithm, plus the output. (Shared arrangements, VLDB 2020, section 5.3.1.)
"""

cimport cython
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from ivm.operators.errors.evaluate cimport Evaluate
from ivm.operators.base.operator cimport (
    WORTH_LOOKING, Operator, Reader, Region, first_of, look_at_budget, read_alone, spend, takes_part,
)
from ivm.rows.packing cimport Packing, pack
from ivm.rows.updates cimport push
from ivm.expressions.kernels.vectors cimport VECTOR
from ivm.trace.batch cimport (
    Batch, diff_of, first_update, first_val, key_at, seek_key, time_of, val_at,
)
from ivm.trace.counts cimport add_to, product_of
from ivm.trace.probe cimport GROUP, SPARSE, probe
from ivm.trace.times cimport MAX_COORDINATES, compare_words, join_into


@cython.final
cdef class Join(Operator):
    """Joins `left` and `right`; `packing` makes a row from (key, left value, right value)."""

    cdef readonly Reader left
    cdef readonly Reader right
    cdef Packing packing
    cdef void* evaluate     # an Evaluate, borrowed: it holds this operator, and lives if it alone does
    cdef Py_ssize_t mark    # pairs that are held before they are evaluated, or before it looks at its budget

    def __init__(self, Region region, int row_words, Reader left, Reader right, Packing packing):
        self.seeks = self.slices = True
        self.left = left
        self.right = right
        self.packing = packing
        self.evaluate = NULL

    # Hands pairs over a vector at a time if `evaluate` is the only reader.
    cdef void evaluated_by(self, Operator evaluate) noexcept:
        self.evaluate = <void*> evaluate

    cdef Py_ssize_t load(self) noexcept nogil:
        return self._sought(self.left, self.right) + self._sought(self.right, self.left)

    # The number of keys to seek for the new updates of `one`: those of the smaller side.
    cdef inline Py_ssize_t _sought(self, Reader one, Reader other) noexcept nogil:
        cdef Py_ssize_t waiting = one.waiting(self.region)
        return 0 if waiting == 0 else min(waiting, other.held())

    # Counts the pairs that will be found.
    cdef Py_ssize_t foreseen(self) except -1 nogil:
        cdef Py_ssize_t pairs = 0
        self.left.look(self.region)
        self.right.look(self.region)
        if self.parts == 1:
            return self._foreseen_of_part()
        while takes_part(self):
            pairs += self._foreseen_of_part()
        return pairs

    cdef Py_ssize_t _foreseen_of_part(self) noexcept nogil:
        cdef Py_ssize_t pairs = 0, i, j, end_a, end_b
        cdef Batch* a
        cdef Batch* b
        for a in self.left.delta:
            for b in self.right.delta:
                self._find_part(b, a, &j, &end_b, &i, &end_a)
                if end_a - i <= end_b - j:
                    pairs += found_pairs(a, i, end_a, b, j)
                else:
                    pairs += found_pairs(b, j, end_b, a, i)
        return pairs

    cdef Py_ssize_t yields(self) noexcept nogil:
        return self.out.length + (<Evaluate> self.evaluate).taken if self._is_taken_from() else self.out.length

    # True if `evaluate` takes pairs early. It may be gone where the join has another reader too.
    cdef inline bint _is_taken_from(self) noexcept nogil:
        return self.evaluate != NULL and read_alone(self)

    cdef int step(self) except -1 nogil:
        self.out.length = 0
        self.mark = VECTOR if self._is_taken_from() else <Py_ssize_t> WORTH_LOOKING
        self.left.look(self.region)
        self.right.look(self.region)
        if self.parts == 1:
            return self._join_part()
        while takes_part(self):
            self._join_part()
        return 0

    cdef int _join_part(self) except -1 nogil:
        cdef Batch* a
        cdef Batch* b
        for a in self.left.delta:
            for b in self.right.history:
                self._meet(a, b, True)
        for b in self.right.delta:
            for a in self.left.history:
                self._meet(a, b, False)
            for a in self.left.delta:
                self._meet(a, b, False)
        return 0

    # Joins this operator's part of `a`, or of `b`, with all of the other.
    cdef int _meet(self, const Batch* a, const Batch* b, bint of_a) except -1 nogil:
        cdef Py_ssize_t i, j, end_a, end_b
        if of_a:
            self._find_part(a, b, &i, &end_a, &j, &end_b)
        else:
            self._find_part(b, a, &j, &end_b, &i, &end_a)
        if (end_a - i) * SPARSE <= end_b - j or (end_b - j) * SPARSE <= end_a - i:
            return self._probe(a, i, end_a, b, j, end_b)
        return self._gallop(a, i, end_a, b, j, end_b)

    # Finds this operator's part of the keys of `one`, and their range in `other`: all of it, if they are few.
    # Seeking the first and the last would take one miss after the other, and more than a probe's.
    cdef void _find_part(self, const Batch* one, const Batch* other, Py_ssize_t* first, Py_ssize_t* end,
                         Py_ssize_t* first_other, Py_ssize_t* end_other) noexcept nogil:
        first[0] = first_of(one.keys, self.part, self.parts)
        end[0] = first_of(one.keys, self.part + 1, self.parts)
        first_other[0] = 0
        end_other[0] = other.keys
        if (end[0] - first[0]) * self.parts * SPARSE <= other.keys:
            return
        if first[0] > 0:
            first_other[0] = seek_key(other, key_at(one, first[0]), 0)
        if end[0] < one.keys:
            end_other[0] = seek_key(other, key_at(one, end[0]), first_other[0])

    cdef int _gallop(self, const Batch* a, Py_ssize_t i, Py_ssize_t end_a, const Batch* b, Py_ssize_t j,
                     Py_ssize_t end_b) except -1 nogil:
        cdef bint a_smaller = end_a - i <= end_b - j
        while i < end_a and j < end_b:
            if a_smaller:
                j = seek_key(b, key_at(a, i), j)
            else:
                i = seek_key(a, key_at(b, j), i)
            if i >= end_a or j >= end_b:
                break
            if compare_words(key_at(a, i), key_at(b, j), a.key_words) == 0:
                self._pairs(a, i, b, j)
                i += 1
                j += 1
            elif a_smaller:
                i += 1
            else:
                j += 1
        return 0

    cdef int _probe(self, const Batch* a, Py_ssize_t in_a, Py_ssize_t end_a, const Batch* b,
                    Py_ssize_t in_b, Py_ssize_t end_b) except -1 nogil:
        cdef bint a_smaller = end_a - in_a <= end_b - in_b
        cdef const Batch* few = a if a_smaller else b
        cdef const Batch* many = b if a_smaller else a
        cdef Py_ssize_t at[GROUP]
        cdef Py_ssize_t first = in_a if a_smaller else in_b, end = end_a if a_smaller else end_b
        cdef Py_ssize_t start = in_b if a_smaller else in_a
        cdef int i, n
        while first < end:
            n = <int> min(GROUP, end - first)
            start = probe(many, key_at(few, first), few.key_words, few.keys - first, n, start, at)
            for i in range(n):
                if at[i] >= 0 and a_smaller:
                    self._pairs(a, first + i, b, at[i])
                elif at[i] >= 0:
                    self._pairs(a, at[i], b, first + i)
            first += n
        return 0

    cdef int _pairs(self, const Batch* a, Py_ssize_t i, const Batch* b, Py_ssize_t j) except -1 nogil:
        cdef Py_ssize_t v, w, t, u
        cdef bint alone
        cdef uint64_t* update
        for v in range(first_val(a, i), first_val(a, i + 1)):
            t = first_update(a, v)
            alone = first_update(a, v + 1) - t == 1
            for w in range(first_val(b, j), first_val(b, j + 1)):
                u = first_update(b, w)
                if not alone or first_update(b, w + 1) - u > 1:
                    self._pairs_of_times(a, i, v, b, j, w)
                    continue
                update = self._new_pair(a, i, v, b, j, w)
                self._find_time(a, t, b, u, update + self.out.row_words)
                update[self.out.stride - 1] = <uint64_t> _product(a, t, b, u)
                self._hand_over()
        return 0

    # Joins two values at several times. Those times of one that are not after a time of the other are neighbours,
    # and their pairs have this time: so what came in round 1 and went in round 2 makes no pair in round 3.
    cdef int _pairs_of_times(self, const Batch* a, Py_ssize_t i, Py_ssize_t v, const Batch* b, Py_ssize_t j,
                             Py_ssize_t w) except -1 nogil:
        cdef uint64_t time[MAX_COORDINATES]
        cdef Py_ssize_t t, u
        cdef uint64_t* update = NULL
        for t in range(first_update(a, v), first_update(a, v + 1)):
            for u in range(first_update(b, w), first_update(b, w + 1)):
                self._find_time(a, t, b, u, time)
                if update != NULL and compare_words(update + self.out.row_words, time, self.out.time_words) == 0:
                    add_to(&update[self.out.stride - 1], <uint64_t> _product(a, t, b, u))
                    continue
                if update == NULL or update[self.out.stride - 1] != 0:
                    self._hand_over()
                    update = self._new_pair(a, i, v, b, j, w)
                memcpy(update + self.out.row_words, time, self.out.time_words * sizeof(uint64_t))
                update[self.out.stride - 1] = <uint64_t> _product(a, t, b, u)
        if update != NULL and update[self.out.stride - 1] == 0:
            self.out.length -= 1
        return self._hand_over()

    cdef inline uint64_t* _new_pair(self, const Batch* a, Py_ssize_t i, Py_ssize_t v, const Batch* b,
                                    Py_ssize_t j, Py_ssize_t w) except NULL nogil:
        cdef uint64_t* update = push(&self.out)
        if update == NULL:
            with gil:
                raise MemoryError("no memory for a join's output")
        pack(self.packing, key_at(a, i), val_at(a, v), val_at(b, w), update)
        return update

    # The least upper bound of the times of two updates.
    cdef inline void _find_time(self, const Batch* a, Py_ssize_t t, const Batch* b, Py_ssize_t u,
                                uint64_t* time) noexcept nogil:
        memcpy(time, self.region.at, self.out.time_words * sizeof(uint64_t))
        time[0] = self.region.lower
        join_into(time, time_of(a, t), a.time_words)
        join_into(time, time_of(b, u), b.time_words)

    cdef inline int _hand_over(self) except -1 nogil:
        if self.out.length >= self.mark:
            return self._pass_mark()
        return 0

    # Hands pairs over if they are taken early, and looks at the budget.
    cdef int _pass_mark(self) except -1 nogil:
        if self._is_taken_from():
            spend(self, self.out.length)
            return (<Evaluate> self.evaluate).take()
        self.mark += WORTH_LOOKING
        return look_at_budget(self.region)


# The diff of a pair: mostly one side has a diff of 1 throughout.
cdef inline int64_t _product(const Batch* a, Py_ssize_t t, const Batch* b, Py_ssize_t u) noexcept nogil:
    if a.diff == NULL:
        return diff_of(b, u)
    return a.diff[t] if b.diff == NULL else product_of(a.diff[t], b.diff[u])


# Counts the pairs of updates of the keys [first, end) of `few` with those of `many` that have the same key,
# from `start` on.
cdef Py_ssize_t found_pairs(const Batch* few, Py_ssize_t first, Py_ssize_t end, const Batch* many,
                            Py_ssize_t start) noexcept nogil:
    cdef Py_ssize_t at[GROUP]
    cdef Py_ssize_t pairs = 0
    cdef int i, n
    while first < end:
        n = <int> min(GROUP, end - first)
        start = probe(many, key_at(few, first), few.key_words, few.keys - first, n, start, at)
        for i in range(n):
            if at[i] >= 0:
                pairs += updates_of(few, first + i) * updates_of(many, at[i])
        first += n
    return pairs


# The number of updates of the key at `k`.
cdef inline Py_ssize_t updates_of(const Batch* b, Py_ssize_t k) noexcept nogil:
    return first_update(b, first_val(b, k + 1)) - first_update(b, first_val(b, k))
