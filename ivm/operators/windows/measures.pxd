# A measure moves along the one column of an ordering by a distance, as RANGE between two distances does.

from libc.stdint cimport int64_t, uint64_t

from ivm.operators.aggregates.cell cimport Cell
from ivm.rows.interner cimport Interner
from ivm.rows.words cimport int128_t

# A distance in the order: calendar months first, then an exact number of units, or a float.
cdef struct Distance:
    int64_t months
    int128_t units      # of the column's last place; microseconds where there are months
    double real

# A value at a distance from a row's, which a type may be unable to hold.
cdef struct Target:
    int beyond          # negative or positive: before or after every possible value
    uint64_t words[2]
    int128_t span       # of an interval


cdef class Measure:
    cdef Cell cell
    cdef int kind               # one of `Kind` in layout.pxd
    cdef bint is_date
    cdef Interner interner
    cdef Distance near          # from a row to the start of its frame
    cdef Distance far           # and to its end
    cdef Distance widest        # the greater one of both, as no row is farther away
    cdef bint wavers            # a later row may have an earlier target, by some days of a month's end
    cdef bint is_null(self, const uint64_t* val) noexcept nogil
    # True if a change of the row `later` can reach the row `earlier`, or the reverse.
    cdef bint reaches(self, const uint64_t* earlier, const uint64_t* later) noexcept nogil
    # The start of the frame of a row whose value is not NULL; and its end.
    cdef Target start_of(self, const uint64_t* val) noexcept nogil
    cdef Target end_of(self, const uint64_t* val) noexcept nogil
    cdef Target target(self, const uint64_t* val, const Distance* away, bint is_start) noexcept nogil
    cdef void move_exactly(self, const uint64_t* given, int128_t units, Target* target) noexcept nogil
    cdef void move_months(self, const uint64_t* given, const Distance* away, bint up,
                          Target* target) noexcept nogil
    cdef int128_t span_at(self, uint64_t word) noexcept nogil
    # Compares a value with the target of `current`, which is not NULL.
    cdef int compare(self, const uint64_t* val, const uint64_t* current,
                     const Target* target) noexcept nogil
