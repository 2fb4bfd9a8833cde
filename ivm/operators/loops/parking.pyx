"""Parking queues updates by round for later rounds of a loop, so that a round costs only its own updates."""

from cython.operator cimport dereference, preincrement
from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.map cimport map
from libcpp.utility cimport pair
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Region, earlier
from ivm.rows.updates cimport Updates, append, bytes_of, copy_update, empty_updates, push, release
from ivm.trace.times cimport compare_words


cdef class Parking:
    """Parks updates by round; a round is its loop coordinates, without the root's."""

    def __dealloc__(self):
        self.clear()

    cdef void clear(self) noexcept nogil:
        self.last = NULL
        cdef map[vector[uint64_t], Updates].iterator it = self.rounds.begin()
        while it != self.rounds.end():
            release(&dereference(it).second)
            it = self.rounds.erase(it)

    cdef int park(self, const Updates* shape, const uint64_t* update) except -1 nogil:
        cdef const uint64_t* time = update + shape.row_words
        cdef uint64_t* parked
        cdef map[vector[uint64_t], Updates].iterator it
        # Most often, many updates in a row are of one round.
        if self.last == NULL or compare_words(
                self.last_round.data(), time + 1, shape.time_words - 1) != 0:
            self.round.assign(time + 1, time + shape.time_words)
            it = self.rounds.find(self.round)
            if it == self.rounds.end():
                it = self.rounds.insert(pair[vector[uint64_t], Updates](
                    self.round, empty_updates(shape.row_words, shape.time_words))).first
            self.last_round.assign(time + 1, time + shape.time_words)
            self.last = &dereference(it).second
        parked = push(self.last)
        if parked == NULL:
            self._no_memory()
        copy_update(parked, update, shape.stride)
        return 0

    cdef int take(self, Updates* out, Region region) except -1 nogil:
        cdef Updates* parked
        cdef map[vector[uint64_t], Updates].iterator it
        if self.rounds.empty():
            return 0
        self.round.assign(region.at + 1, region.at + region.depth)
        it = self.rounds.find(self.round)
        if it == self.rounds.end():
            return 0
        parked = &dereference(it).second
        if out.length == 0:
            out[0], parked[0] = parked[0], out[0]
        elif append(out, parked.words, parked.length) < 0:
            self._no_memory()
        self.last = NULL
        release(parked)
        self.rounds.erase(it)
        return 0

    cdef size_t held_bytes(self) noexcept nogil:
        cdef size_t bytes = 0
        cdef map[vector[uint64_t], Updates].iterator it = self.rounds.begin()
        while it != self.rounds.end():
            bytes += bytes_of(&dereference(it).second)
            preincrement(it)
        return bytes

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for updates of later rounds")

    cdef bint earliest(self, uint64_t* at, int depth) noexcept nogil:
        if self.rounds.empty():
            return False
        earlier(at, dereference(self.rounds.begin()).first.data() - 1, depth)
        return True

    cdef Py_ssize_t due(self, Region region) noexcept nogil:
        cdef map[vector[uint64_t], Updates].iterator it
        if self.rounds.empty():
            return 0
        # `round` has had its size since the first update was parked.
        memcpy(self.round.data(), region.at + 1, self.round.size() * sizeof(uint64_t))
        it = self.rounds.find(self.round)
        return 0 if it == self.rounds.end() else dereference(it).second.length
