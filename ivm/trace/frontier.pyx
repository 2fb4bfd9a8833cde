"""Antichains of times as frontiers, and the compaction of times to a frontier.

A frontier F stands for the times at or after one of its elements. Two times are indistinguishable
as of F if they are at or before the same times of F. A representative that is the same for
all indistinguishable times, and indistinguishable from each, is the meet over the elements f of
the joins of t with f: rep_F(t) = ⋀_{f ∈ F} (t ∨ f) (Shared arrangements, VLDB 2020, appendix A,
theorems 1 and 2). Times are products of total orders, which are distributive lattices: the meet of
the joins is the join of t with the meet of F. Hence one time, F's meet, is all that a merge has to
know to advance any number of times: with F = {(3, 5), (4, 2)}, whose meet is (3, 2), the time (1, 7)
becomes (3, 7).
"""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from ivm.trace.times cimport (
    MAX_COORDINATES, compare_words, join_into, less_equal, meet_into,
)


cdef int read_time(time, int time_words, uint64_t* out) except -1:
    cdef int i
    if len(time) != time_words:
        raise ValueError(f"{time} has not {time_words} coordinates")
    for i in range(time_words):
        out[i] = time[i]
    return 0


cdef tuple _as_tuple(const uint64_t* time, int time_words):
    return tuple([time[i] for i in range(time_words)])


cdef class Antichain:
    """The minimal elements among `times`, each a tuple of `time_words` coordinates (1 to 8)."""

    def __init__(self, int time_words, times=()):
        if not 1 <= time_words <= MAX_COORDINATES:
            raise ValueError(f"a time has 1 to {MAX_COORDINATES} coordinates, not {time_words}")
        self.time_words = time_words
        for time in times:
            self.insert(time)

    cdef size_t count(self) noexcept nogil:
        return self.elements.size() // self.time_words

    cdef const uint64_t* at(self, size_t i) noexcept nogil:
        return self.elements.data() + i * self.time_words

    cdef bint insert_time(self, const uint64_t* time) except -1 nogil:
        cdef vector[uint64_t] kept
        cdef size_t i
        cdef bint placed = False
        if self.reaches(time):
            return False
        kept.reserve(self.elements.size() + self.time_words)
        for i in range(self.count()):
            if less_equal(time, self.at(i), self.time_words):
                continue
            if not placed and compare_words(time, self.at(i), self.time_words) < 0:
                kept.insert(kept.end(), time, time + self.time_words)
                placed = True
            kept.insert(kept.end(), self.at(i), self.at(i) + self.time_words)
        if not placed:
            kept.insert(kept.end(), time, time + self.time_words)
        self.elements.swap(kept)
        return True

    cdef bint reaches(self, const uint64_t* time) noexcept nogil:
        cdef size_t i
        for i in range(self.count()):
            if less_equal(self.at(i), time, self.time_words):
                return True
        return False

    cdef bint meet_of(self, uint64_t* out) noexcept nogil:
        cdef size_t i
        if self.elements.empty():
            return False
        memcpy(out, self.at(0), self.time_words * sizeof(uint64_t))
        for i in range(1, self.count()):
            meet_into(out, self.at(i), self.time_words)
        return True

    def insert(self, time) -> bool:
        """Add a time; False, and nothing changes, if an element is at or before it."""
        cdef uint64_t words[MAX_COORDINATES]
        read_time(time, self.time_words, words)
        return self.insert_time(words)

    def less_equal(self, time) -> bool:
        """True if `time` is at or after some element."""
        cdef uint64_t words[MAX_COORDINATES]
        read_time(time, self.time_words, words)
        return self.reaches(words)

    def meet(self, Antichain other) -> Antichain:
        """The frontier of the times that either frontier stands for: their greatest lower bound."""
        return Antichain(self.time_words, [*self, *other])

    def join(self, Antichain other) -> Antichain:
        """The frontier of the times that both frontiers stand for: their least upper bound."""
        joins = [tuple(map(max, s, t)) for s in self for t in other]
        return Antichain(self.time_words, joins)

    def advance(self, time) -> tuple[int, ...] | None:
        """The representative of the times indistinguishable from `time` as of this frontier.

        None for the empty frontier, as of which no time can be told from any other.
        """
        cdef uint64_t words[MAX_COORDINATES]
        cdef uint64_t least[MAX_COORDINATES]
        read_time(time, self.time_words, words)
        if not self.meet_of(least):
            return None
        join_into(words, least, self.time_words)
        return _as_tuple(words, self.time_words)

    def __iter__(self):
        cdef size_t i
        for i in range(self.count()):
            yield _as_tuple(self.at(i), self.time_words)

    def __len__(self) -> int:
        return self.count()

    def __eq__(self, other) -> bool:
        if not isinstance(other, Antichain):
            return NotImplemented
        return self.time_words == (<Antichain> other).time_words and list(self) == list(other)

    __hash__ = None

    def __repr__(self) -> str:
        return f"Antichain({self.time_words}, {list(self)})"
