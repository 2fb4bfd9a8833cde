from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.windows.rows cimport Stretch
from ivm.rows.words cimport int128_t

# The measure of a range: the one column of its ordering.
cdef struct Measure:
    int null_word       # its flag, or -1
    uint64_t null       # the flag of a NULL
    int word
    int words
    int kind            # one of `Kind` in layout.pxd
    uint64_t flip       # all ones where descending

# A value at a distance from a row's, which a type may be unable to hold.
cdef struct Target:
    int beyond          # negative or positive: before or after every possible value
    uint64_t words[2]


# A frame holds the rows around a row that a window function reads. Both ends rise with the row.
cdef class Frame:
    cdef readonly bint by_rows      # ends are counted in rows
    cdef readonly bint by_range     # ends are distances in the order
    cdef readonly bint open_start   # from the partition's first row on
    cdef readonly bint open_end
    cdef int64_t start              # the ends counted in rows or groups
    cdef int64_t end
    cdef int128_t near              # the ends as distances, exact
    cdef int128_t far
    cdef int128_t widest
    cdef double near_float
    cdef double far_float
    cdef double widest_float
    cdef Measure measure
    # Fills `starts` and `ends` with the frame [start, end) of each row from `first` to `last`.
    cdef int bounds(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                    vector[Py_ssize_t]* starts, vector[Py_ssize_t]* ends) except -1 nogil
    cdef int by_row(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                    vector[Py_ssize_t]* starts, vector[Py_ssize_t]* ends) except -1 nogil
    cdef int by_group(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                      vector[Py_ssize_t]* starts, vector[Py_ssize_t]* ends) except -1 nogil
    cdef int by_distance(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                         vector[Py_ssize_t]* starts, vector[Py_ssize_t]* ends) except -1 nogil
    cdef bint is_null(self, const uint64_t* val) noexcept nogil
    # True if a change of the row `later` can reach the row `earlier`, or the reverse, for frames by distance
    # without an open end.
    cdef bint reaches(self, const uint64_t* earlier, const uint64_t* later) noexcept nogil
    cdef Target target(self, const uint64_t* val, int128_t distance, double by) noexcept nogil
    cdef int compare(self, const uint64_t* val, const uint64_t* current,
                     const Target* target) noexcept nogil
