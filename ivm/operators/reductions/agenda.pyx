"""An agenda holds reminders by time: the items to evaluate when a loop's sweep gets there.

Few times are outstanding at once, and most items are added to the time that was added to last or
to a neighbour of it: a sorted array of times, searched by bisection, serves better than a tree.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.trace.times cimport compare_words


cdef enum:
    KEPT_ITEMS = 1 << 12


cdef class Agenda:
    """Holds items by times of `words` words."""

    def __init__(self, int words):
        self.words = words
        self.most = 0

    cdef int add(self, const uint64_t* time, uint32_t item) except -1 nogil:
        cdef size_t low = 0, high = self.order.size(), middle
        cdef int order
        while low < high:
            middle = high - 1 if high == self.order.size() else (low + high) // 2
            order = compare_words(self.times.data() + middle * self.words, time, self.words)
            if order == 0:
                self.buckets[self.order[middle]].push_back(item)
                return 0
            if order > 0:
                low = middle + 1
            else:
                high = middle
        self._open(low, time)
        self.buckets[self.order[low]].push_back(item)
        return 0

    # Inserts an empty bucket for `time` as the `at`-th.
    cdef int _open(self, size_t at, const uint64_t* time) except -1 nogil:
        cdef uint32_t place
        if self.free.empty():
            place = <uint32_t> self.buckets.size()
            self.buckets.resize(place + 1)
            self.free.reserve(place + 1)
        else:
            place = self.free.back()
            self.free.pop_back()
        self.order.insert(self.order.begin() + at, place)
        self.times.insert(self.times.begin() + at * self.words, time, time + self.words)
        return 0

    cdef Py_ssize_t due(self) noexcept nogil:
        return self.buckets[self.order.back()].size()

    cdef int take(self, vector[uint32_t]* items) except -1 nogil:
        cdef uint32_t place = self.order.back()
        self.most = max(self.most, self.buckets[place].size())
        items[0].swap(self.buckets[place])
        self.buckets[place].clear()
        self.free.push_back(place)
        self.order.pop_back()
        self.times.resize(self.times.size() - self.words)
        return 0

    cdef void clear(self) noexcept nogil:
        self.times.clear()
        self.order.clear()
        self.buckets.clear()
        self.free.clear()
        self.most = 0

    cdef void rest(self) noexcept nogil:
        if self.most > KEPT_ITEMS and self.order.empty():
            self.clear()

