"""The base of every reduction in a loop: an agenda of touched keys, and shards that own them."""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport WORTH_SEEKING, Operator, Region, earlier
from ivm.operators.reductions.agenda cimport Agenda
from ivm.rows.hashing cimport Partitioner
from ivm.rows.updates cimport Updates
from ivm.trace.times cimport MAX_COORDINATES, compare_words

cdef enum:
    KEPT_PLACES = 1 << 12


cdef class Sweeping(Operator):
    """Sweeps the rounds of a loop, and reduces the rows of `source` by a key of `key_words` words.

    `partitioner` finds the owners of keys, whose shards keep and evaluate them.
    """

    def __init__(self, Region region, Operator source, int key_words, Partitioner partitioner):
        self.source = source
        self.partitioner = partitioner
        self.key_words = key_words
        self.agenda = Agenda(region.depth)
        self.parks = self.settles = self.seeks = self.keeps = True
        self.into = &self.out

    cdef int take_input(self) except -1 nogil:
        return 0

    cdef int take_for_owners(self, const vector[void*]* shards) except -1 nogil:
        return 0

    cdef int evaluate_all(self, const uint64_t* time) except -1 nogil:
        return 0

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length + (self.agenda.due() if self._is_due() else 0)

    # True if the agenda's earliest time is in the present round.
    cdef bint _is_due(self) noexcept nogil:
        cdef const uint64_t* next = self.agenda.earliest()
        return next != NULL and compare_words(next, self.region.at + 1, self.region.depth - 1) == 0

    cdef bint parked(self, uint64_t* at) noexcept nogil:
        cdef const uint64_t* next = self.agenda.earliest()
        if next == NULL:
            return False
        earlier(at, next - 1, self.region.depth)
        return True

    cdef void abandon(self) noexcept nogil:
        self.out.length = 0
        self.agenda.clear()

    cdef void rest_agenda(self) noexcept nogil:
        self.agenda.rest()
        if self.places.capacity() > KEPT_PLACES:
            self.places = vector[uint32_t]()

    cdef int step(self) except -1 nogil:
        self.out.length = 0
        self.take_input()
        return self._evaluate_due(&self.out)

    cdef int step_all(self, const vector[void*]* shards) except -1 nogil:
        cdef size_t s
        self.out.length = 0
        self._hand_out_all(shards)
        for s in range(shards.size()):
            (<Sweeping> shards[0][s])._evaluate_due(&self.out)
        return 0

    cdef int hand_out(self, const vector[void*]* shards) except -1 nogil:
        cdef Py_ssize_t rows = 0
        cdef size_t s
        for s in range(shards.size()):
            rows += (<Sweeping> shards[0][s]).source.out.length
        if rows < <Py_ssize_t> shards.size() * WORTH_SEEKING:
            self._hand_out_all(shards)      # else an exchange has given them to their owners
        return 0

    cdef int _hand_out_all(self, const vector[void*]* shards) except -1 nogil:
        cdef size_t s
        for s in range(shards.size()):
            if (<Sweeping> shards[0][s]).source.out.length > 0:
                (<Sweeping> shards[0][s]).take_for_owners(shards)
        return 0

    # Evaluates all keys that are due in the present round, and puts the changes `into`.
    cdef int _evaluate_due(self, Updates* into) except -1 nogil:
        cdef uint64_t time[MAX_COORDINATES]
        self.into = into
        while self._is_due():
            memcpy(time, self.agenda.earliest(), self.region.depth * sizeof(uint64_t))
            self.agenda.take(&self.places)
            self.evaluate_all(time)
        return 0
