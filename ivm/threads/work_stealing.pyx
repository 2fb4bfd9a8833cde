"""Work stealing: a thread that has finished its slice of a shared index range takes parts of other threads' slices.

Equal slices do not take equal times: a thread may start late, or share its processor. A thread takes its own
parts from the first one on, and those of another slice from its end, so that its output is nearly in order, and
wholly in order if it steals nothing. With slices {0..3} and {4..7}, a thread that has done 0 to 3 takes 7, then
6. A slice of which no part has been begun is left alone, for its own thread to begin at its first part.
"""

from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

cdef extern from *:
    const int RELAXED "__ATOMIC_RELAXED"
    uint64_t load "__atomic_load_n"(const uint64_t*, int) noexcept nogil
    bint replace "__atomic_compare_exchange_n"(
        uint64_t* target, uint64_t* expected, uint64_t wanted, bint weak, int success, int failure) noexcept nogil

cdef enum:
    FIRST_BIT = 32      # of the first part that waits; the end is below


cdef void fill_slice(Slice* slice, int begin, int end) noexcept nogil:
    slice.begin = begin
    slice.waiting = <uint64_t> begin << <int> FIRST_BIT | <uint64_t> end


cdef bint take_part(Slice* slices, int count, int own, int* part) noexcept nogil:
    cdef int s
    if _take_first(&slices[own], part):
        return True
    for s in range(count):
        if _take_last(&slices[s], part):
            return True
    return False


cdef bint _take_first(Slice* slice, int* part) noexcept nogil:
    cdef uint64_t waiting = load(&slice.waiting, RELAXED)
    while _first(waiting) < _end(waiting):
        if replace(&slice.waiting, &waiting, waiting + (<uint64_t> 1 << <int> FIRST_BIT), True, RELAXED, RELAXED):
            part[0] = _first(waiting)
            return True
    return False


cdef bint _take_last(Slice* slice, int* part) noexcept nogil:
    cdef uint64_t waiting = load(&slice.waiting, RELAXED)
    while slice.begin < _first(waiting) < _end(waiting):
        if replace(&slice.waiting, &waiting, waiting - 1, True, RELAXED, RELAXED):
            part[0] = _end(waiting) - 1
            return True
    return False


cdef inline int _first(uint64_t waiting) noexcept nogil:
    return <int> (waiting >> <int> FIRST_BIT)


cdef inline int _end(uint64_t waiting) noexcept nogil:
    return <int> <uint32_t> waiting


def parts_taken(int slices, int parts, takers) -> list[int | None]:
    """List the part that each of `takers`, numbers of slices, takes in turn: for tests."""
    cdef vector[Slice] all
    cdef int s, own, part
    all.resize(slices)
    for s in range(slices):
        fill_slice(&all[s], s * parts, (s + 1) * parts)
    taken = []
    for own in takers:
        taken.append(part if take_part(all.data(), slices, own, &part) else None)
    return taken
