"""Touched groups: the groups of a trace that a step touches, one after another, in the order of keys.

A shard takes those that it owns. A few are looked up at a time: by probes in a large batch, all together, and
by galloping in others. Root times are totally ordered, so that one look at a group's values in all batches
gives the group just before a time and at it: the batches from before the step, and the new ones up to that
time.
"""

from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.algorithm cimport lower_bound
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator
from ivm.operators.base.ownership cimport is_own
from ivm.trace.batch cimport (
    Batch, first_update, first_val, key_at, least_key, seek_key, time_of,
)
from ivm.trace.probe cimport GROUP, SPARSE, probe
from ivm.trace.times cimport compare_words


cdef class TouchedGroups(Operator):
    """Calls `change_key` for each touched key of `reader`'s trace; a subclass sets its `reader`."""

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region)

    cdef int change_key(self, const uint64_t* key) except -1 nogil:
        return 0

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        self.out.length = 0
        self.reader.look(self.region)
        if self.reader.delta.empty():
            return 0
        self.at.clear()
        self.at.resize(self.reader.delta.size(), 0)
        self.positions.clear()
        self.positions.resize(self.reader.history.size(), 0)
        self.keys.resize(1 + GROUP * self.reader.trace.key_words)   # a key may have no words
        self.news.resize(GROUP * self.reader.delta.size())
        self.places.resize(GROUP * self.reader.history.size())
        while True:
            self.find_keys()
            if self.count == 0:
                return 0
            self.find_places()
            for i in range(self.count):
                self.open_key(i)
                self.find_times()
                self.change_key(self.keys.data() + i * self.reader.trace.key_words)

    cdef int step_all(self, const vector[void*]* shards) except -1 nogil:
        self.everyone = shards
        try:
            self.step()
        finally:
            self.everyone = NULL
        return 0

    # Finds the next new keys, of this shard unless it takes all.
    cdef void find_keys(self) noexcept nogil:
        cdef const vector[Batch*]* delta = &self.reader.delta
        cdef int words = self.reader.trace.key_words
        cdef Py_ssize_t least
        cdef uint64_t* key
        cdef size_t d
        self.count = 0
        while self.count < GROUP:
            least = least_key(delta.data(), delta.size(), self.at.data())
            if least < 0:
                return
            key = self.keys.data() + self.count * words
            memcpy(key, key_at(delta[0][least], self.at[least]), words * sizeof(uint64_t))
            for d in range(delta.size()):
                self.news[GROUP * d + self.count] = -1
                if self.at[d] < delta[0][d].keys and compare_words(
                        key_at(delta[0][d], self.at[d]), key, words) == 0:
                    self.news[GROUP * d + self.count] = self.at[d]
                    self.at[d] += 1
            self.count += self.everyone != NULL or is_own(self, self.partitioner, key)

    # Finds the places of these keys in the batches from before.
    cdef void find_places(self) noexcept nogil:
        cdef int words = self.reader.trace.key_words, n = <int> self.count
        cdef Py_ssize_t* places
        cdef const uint64_t* key
        cdef Batch* b
        cdef size_t h
        cdef int i
        for h in range(self.reader.history.size()):
            b = self.reader.history[h]
            places = &self.places[GROUP * h]
            if self.is_probed(b):
                self.positions[h] = probe(
                    b, self.keys.data(), words,
                    n + (self.reader.delta[0].keys - self.at[0]) // self.shards, n,
                    self.positions[h], places)
                continue
            for i in range(n):
                key = self.keys.data() + i * words
                self.positions[h] = places[i] = seek_key(b, key, self.positions[h])
                if places[i] == b.keys or compare_words(key_at(b, places[i]), key, words) != 0:
                    places[i] = -1

    # True if there is one new batch, and it has few keys beside those of `b`, from before.
    cdef inline bint is_probed(self, const Batch* b) noexcept nogil:
        return self.reader.delta.size() == 1 and self.reader.delta[0].keys * SPARSE <= b.keys

    # Collects the runs of the i-th of these keys.
    cdef int open_key(self, Py_ssize_t i) except -1 nogil:
        cdef size_t d
        self.runs.clear()
        self.size = 0
        for d in range(self.reader.history.size()):
            if self.places[GROUP * d + i] >= 0:
                self.add_run(self.reader.history[d], self.places[GROUP * d + i], False)
        for d in range(self.reader.delta.size()):
            if self.news[GROUP * d + i] >= 0:
                self.add_run(self.reader.delta[d], self.news[GROUP * d + i], True)
        return 0

    cdef int add_run(self, const Batch* b, Py_ssize_t k, bint is_new) except -1 nogil:
        cdef Run run
        run.batch = b
        run.val = first_val(b, k)
        run.end = first_val(b, k + 1)
        run.is_new = is_new
        self.runs.push_back(run)
        self.size += run.end - run.val
        return 0

    # Finds the distinct new times of the present key.
    cdef int find_times(self) except -1 nogil:
        cdef vector[uint64_t].iterator place
        cdef Run run
        cdef Py_ssize_t u
        cdef uint64_t time
        self.times.clear()
        for run in self.runs:
            if not run.is_new:
                continue
            for u in range(first_update(run.batch, run.val), first_update(run.batch, run.end)):
                time = max(time_of(run.batch, u)[0], self.region.lower)
                place = self.times.end()
                if not self.times.empty() and self.times.back() >= time:
                    place = lower_bound(self.times.begin(), place, time)
                if place == self.times.end() or dereference(place) != time:
                    self.times.insert(place, time)
                if run.batch.time_of == NULL:
                    break
        return 0
