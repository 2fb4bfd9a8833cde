"""A ranking keeps a large group's values in order: retracting its minimum costs a logarithm.

It is an array of leaves of at most 128 values each, all in order: a value is found by bisection among the
leaves, then within one. A full leaf is split in two, an empty one goes. Between two splits of a leaf lie 64
insertions, so that moving the array of n / 64 leaves costs an insertion at most n / 4096 words: 2 kB for a
million values. The copies of each leaf are counted beside it, so that a position is found by adding up n / 64
of these numbers.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove
from libcpp.vector cimport vector

from ivm.operators.aggregates.ordering cimport Candidate, Ordering
from ivm.trace.counts cimport add_to, sum_of

cdef enum:
    LEAF = 128      # values of a full leaf


cdef class Ranking:
    """Values in the order of `ordering`, each with a count that is not zero."""

    def __init__(self, Ordering ordering):
        self.ordering = ordering
        self.stride = ordering.words + 1

    def __dealloc__(self):
        self.clear()

    def account(self) -> tuple[int, int]:
        """Values held and bytes of memory; it may be called beside a step."""
        return self.length, self.held * (sizeof(Leaf) + LEAF * self.stride * sizeof(uint64_t))

    cdef void clear(self) noexcept nogil:
        cdef Leaf* leaf
        for leaf in self.leaves:
            free(leaf)
        self.leaves.clear()
        self.copies.clear()
        self.length = 0
        self.held = 0

    cdef int fill(self, const vector[Candidate]* values) except -1 nogil:
        cdef size_t i, l
        cdef Leaf* leaf = NULL
        self.clear()
        for i in range(values.size()):
            if leaf == NULL or leaf.length == LEAF // 2:
                leaf = self.new_leaf()
                self.leaves.push_back(leaf)
                self.copies.push_back(0)
            self.write(leaf, leaf.length, values[0][i].val, values[0][i].count)
            l = self.copies.size() - 1
            self.copies[l] = sum_of(self.copies[l], max(values[0][i].count, <int64_t> 0))
            leaf.length += 1
        self.length = values.size()
        return 0

    cdef int add(self, const uint64_t* val, int64_t diff) except -1 nogil:
        cdef size_t l
        cdef Py_ssize_t at
        cdef uint64_t* count
        if self.leaves.empty():
            self.leaves.push_back(self.new_leaf())
            self.copies.push_back(0)
            return self.insert(0, 0, val, diff)
        l = self.leaf_of(val)
        at = self.place_in(self.leaves[l], val)
        if at == self.leaves[l].length or self.ordering.compare(
                self.entry(self.leaves[l], at), val) != 0:
            return self.insert(l, at, val, diff)
        count = self.leaves[l].entries + (at + 1) * self.stride - 1
        self.copies[l] -= max(<int64_t> count[0], <int64_t> 0)
        add_to(count, <uint64_t> diff)
        self.copies[l] = sum_of(self.copies[l], max(<int64_t> count[0], <int64_t> 0))
        if count[0] == 0:
            self.remove(l, at)
        return 0

    cdef int first(self, int64_t wanted, vector[Candidate]* group) except -1 nogil:
        cdef Candidate candidate
        cdef Py_ssize_t i
        cdef Leaf* leaf
        group.clear()
        for leaf in self.leaves:
            for i in range(leaf.length):
                if wanted <= 0:
                    return 0
                candidate.val = self.entry(leaf, i)
                candidate.count = <int64_t> candidate.val[self.stride - 1]
                if candidate.count > 0:
                    group.push_back(candidate)
                    wanted -= candidate.count
        return 0

    cdef int64_t total(self) noexcept nogil:
        cdef int64_t copies, total = 0
        for copies in self.copies:
            total = sum_of(total, copies)
        return total

    cdef const uint64_t* at(self, int64_t position) noexcept nogil:
        cdef size_t l = 0
        cdef Py_ssize_t i = 0
        while position >= self.copies[l]:
            position -= self.copies[l]
            l += 1
        while True:
            position -= max(self.count(l, i), <int64_t> 0)
            if position < 0:
                return self.entry(self.leaves[l], i)
            i += 1

    cdef Candidate last(self) noexcept nogil:
        cdef size_t l = self.leaves.size() - 1
        cdef Py_ssize_t i = self.leaves[l].length - 1
        return Candidate(self.entry(self.leaves[l], i), self.count(l, i))

    cdef inline int64_t count(self, size_t l, Py_ssize_t i) noexcept nogil:
        return <int64_t> self.entry(self.leaves[l], i)[self.stride - 1]

    cdef inline const uint64_t* entry(self, const Leaf* leaf, Py_ssize_t i) noexcept nogil:
        return leaf.entries + i * self.stride

    cdef void write(self, Leaf* leaf, Py_ssize_t at, const uint64_t* val, int64_t count) noexcept nogil:
        cdef uint64_t* entry = leaf.entries + at * self.stride
        memcpy(entry, val, (self.stride - 1) * sizeof(uint64_t))
        entry[self.stride - 1] = <uint64_t> count

    cdef Leaf* new_leaf(self) except NULL nogil:
        cdef Leaf* leaf = <Leaf*> malloc(sizeof(Leaf) + LEAF * self.stride * sizeof(uint64_t))
        if leaf == NULL:
            with gil:
                raise MemoryError("no memory for the order of a large group")
        leaf.length = 0
        self.held += 1
        return leaf

    # Finds the last leaf whose first value is not above `val`, or the first leaf.
    cdef size_t leaf_of(self, const uint64_t* val) noexcept nogil:
        cdef size_t low = 0, high = self.leaves.size(), middle
        while high - low > 1:
            middle = (low + high) // 2
            if self.ordering.compare(self.entry(self.leaves[middle], 0), val) <= 0:
                low = middle
            else:
                high = middle
        return low

    # Finds the first value of `leaf` that is not below `val`.
    cdef Py_ssize_t place_in(self, const Leaf* leaf, const uint64_t* val) noexcept nogil:
        cdef Py_ssize_t low = 0, high = leaf.length, middle
        while low < high:
            middle = (low + high) // 2
            if self.ordering.compare(self.entry(leaf, middle), val) < 0:
                low = middle + 1
            else:
                high = middle
        return low

    cdef int insert(self, size_t l, Py_ssize_t at, const uint64_t* val, int64_t count) except -1 nogil:
        cdef Leaf* leaf = self.leaves[l]
        cdef Leaf* upper
        cdef Py_ssize_t i
        if leaf.length == LEAF:
            upper = self.new_leaf()
            self.leaves.insert(self.leaves.begin() + l + 1, upper)
            self.copies.insert(self.copies.begin() + l + 1, 0)
            memcpy(upper.entries, self.entry(leaf, LEAF // 2),
                   (LEAF - LEAF // 2) * self.stride * sizeof(uint64_t))
            upper.length = LEAF - LEAF // 2
            leaf.length = LEAF // 2
            for i in range(upper.length):
                self.copies[l + 1] = sum_of(self.copies[l + 1], max(self.count(l + 1, i), <int64_t> 0))
            self.copies[l] -= self.copies[l + 1]
            if at > leaf.length:
                at -= leaf.length
                l += 1
                leaf = upper
        memmove(leaf.entries + (at + 1) * self.stride, self.entry(leaf, at),
                (leaf.length - at) * self.stride * sizeof(uint64_t))
        self.write(leaf, at, val, count)
        self.copies[l] = sum_of(self.copies[l], max(count, <int64_t> 0))
        leaf.length += 1
        self.length += 1
        return 0

    cdef void remove(self, size_t l, Py_ssize_t at) noexcept nogil:
        cdef Leaf* leaf = self.leaves[l]
        leaf.length -= 1
        self.length -= 1
        memmove(leaf.entries + at * self.stride, self.entry(leaf, at + 1),
                (leaf.length - at) * self.stride * sizeof(uint64_t))
        if leaf.length == 0:
            free(leaf)
            self.held -= 1
            self.leaves.erase(self.leaves.begin() + l)
            self.copies.erase(self.copies.begin() + l)


def ranked(Ordering ordering, Py_ssize_t filled, changes, int64_t wanted):
    """The first `wanted` copies after `changes` (value words and diff), as (value, count).

    The first `filled` changes, whose values are distinct, are filled in and the others are added.
    """
    cdef vector[Candidate] group
    cdef Ranking ranking = _after(ordering, filled, changes)
    ranking.first(wanted, &group)
    return [(_words(ordering, c.val), c.count) for c in group]


def positioned(Ordering ordering, Py_ssize_t filled, changes):
    """The value of every copy by its position, after `changes` as of `ranked`."""
    cdef Ranking ranking = _after(ordering, filled, changes)
    return [_words(ordering, ranking.at(i)) for i in range(ranking.total())]


cdef Ranking _after(Ordering ordering, Py_ssize_t filled, changes):
    cdef Ranking ranking = Ranking(ordering)
    cdef vector[Candidate] group
    cdef vector[vector[uint64_t]] values
    cdef Py_ssize_t i
    diffs = [diff for _, diff in changes]
    for val, _ in changes:
        values.push_back(val)
    for i in range(filled):
        group.push_back(Candidate(values[i].data(), diffs[i]))
    ordering.sort(&group)
    ranking.fill(&group)
    for i in range(filled, len(diffs)):
        ranking.add(values[i].data(), diffs[i])
    return ranking


cdef tuple _words(Ordering ordering, const uint64_t* val):
    return tuple([val[i] for i in range(ordering.words)])
