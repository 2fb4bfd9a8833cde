"""The groups of a trace that a step touches, one after another, in the order of their keys.

Few new keys are sought in a large batch by probes, those of the next groups together; else by galloping.
Root times are totally ordered, so that a group just before a time and at it follow from one look at
its values in all batches: those of before the step, and the new ones up to that time.
"""

from cython.operator cimport dereference
from libc.stdint cimport uint64_t
from libcpp.algorithm cimport lower_bound
from libcpp.vector cimport vector

from ivm.operators.operator cimport Operator
from ivm.trace.batch cimport (
    Batch, first_update, first_val, key_at, least_key, seek_key, time_of,
)
from ivm.trace.probe cimport GROUP, SPARSE, probe
from ivm.trace.times cimport compare_words


cdef class Grouped(Operator):
    """Calls `change_key` for each touched key of `reader`'s trace; a kind of this sets its `reader`."""

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region)

    cdef int change_key(self, const uint64_t* key) except -1 nogil:
        return 0

    cdef int step(self) except -1 nogil:
        cdef const vector[Batch*]* delta = &self.reader.delta
        cdef vector[Py_ssize_t] at
        cdef Py_ssize_t least
        cdef const uint64_t* key
        self.out.length = 0
        self.reader.look(self.region)
        if delta.empty():
            return 0
        at.resize(delta.size(), 0)
        self.positions.clear()
        self.positions.resize(self.reader.history.size(), 0)
        self.places.resize(GROUP * self.reader.history.size())
        self.placed = 0
        while True:
            least = least_key(delta.data(), delta.size(), at.data())
            if least < 0:
                return 0
            key = key_at(delta[0][least], at[least])
            self.open_key(key, at.data())
            self.find_times()
            self.change_key(key)

    # Collects the runs of `key` and moves the positions in the delta batches past it.
    cdef int open_key(self, const uint64_t* key, Py_ssize_t* at) except -1 nogil:
        cdef size_t i
        cdef Batch* b
        self.runs.clear()
        self.size = 0
        if at[0] == self.placed:
            self.find_places()
        for i in range(self.reader.history.size()):
            b = self.reader.history[i]
            if self.is_probed(b):
                if self.places[GROUP * i + at[0] % GROUP] >= 0:
                    self.add_run(b, self.places[GROUP * i + at[0] % GROUP], key, False)
                continue
            self.positions[i] = seek_key(b, key, self.positions[i])
            self.add_run(b, self.positions[i], key, False)
        for i in range(self.reader.delta.size()):
            b = self.reader.delta[i]
            if self.add_run(b, at[i], key, True):
                at[i] += 1
        return 0

    # Whether what is new is one batch, and few keys beside those of `b`, from before.
    cdef inline bint is_probed(self, const Batch* b) noexcept nogil:
        return self.reader.delta.size() == 1 and self.reader.delta[0].keys * SPARSE <= b.keys

    # Finds the places of the next new keys in the batches that are probed.
    cdef void find_places(self) noexcept nogil:
        cdef const Batch* sought = self.reader.delta[0]
        cdef int n = <int> min(GROUP, sought.keys - self.placed)
        cdef size_t i
        for i in range(self.reader.history.size()):
            if self.is_probed(self.reader.history[i]):
                self.positions[i] = probe(
                    self.reader.history[i], key_at(sought, self.placed), sought.key_words,
                    sought.keys - self.placed, n, self.positions[i], &self.places[GROUP * i])
        self.placed += n

    cdef bint add_run(self, const Batch* b, Py_ssize_t k, const uint64_t* key,
                      bint is_new) except -1 nogil:
        cdef Run run
        if k == b.keys or compare_words(key_at(b, k), key, b.key_words) != 0:
            return False
        run.batch = b
        run.val = first_val(b, k)
        run.end = first_val(b, k + 1)
        run.is_new = is_new
        self.runs.push_back(run)
        self.size += run.end - run.val
        return True

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
