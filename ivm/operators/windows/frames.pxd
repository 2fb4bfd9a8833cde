from libc.stdint cimport int64_t
from libcpp.vector cimport vector

from ivm.operators.windows.measures cimport Measure
from ivm.operators.windows.rows cimport Stretch

# The rows of one frame: [start, low) and [high, end), and between them perhaps one that is kept. Where nothing
# is excluded, `low` and `high` are `end`. All but `kept` rise with the row.
cdef struct Span:
    Py_ssize_t start
    Py_ssize_t low
    Py_ssize_t high
    Py_ssize_t end
    Py_ssize_t kept     # a row, or -1


cdef inline bint same_span(const Span* a, const Span* b) noexcept nogil:
    return (a.start == b.start and a.low == b.low and a.high == b.high and a.end == b.end
            and a.kept == b.kept)


# A frame holds the rows around a row that a window function reads. Both ends rise with the row.
cdef class Frame:
    cdef readonly bint by_rows      # ends are counted in rows
    cdef readonly bint by_range     # ends are distances in the order
    cdef readonly bint open_start   # from the partition's first row on
    cdef readonly bint open_end
    cdef readonly bint excludes     # some rows around the row are left out
    cdef readonly bint asks_peers   # the frame depends on the groups of peers
    cdef bint leaves_group          # the row's peers are left out, and not only the row
    cdef bint keeps_row             # but not the row itself
    cdef int64_t start              # the ends counted in rows or groups
    cdef int64_t end
    cdef readonly Measure measure   # of the ends that are distances, or None
    # Fills `spans` with the frames of the rows from `first` to `last`.
    cdef int bounds(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                    vector[Span]* spans) except -1 nogil
    cdef int by_row(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                    vector[Span]* spans) except -1 nogil
    cdef int by_group(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                      vector[Span]* spans) except -1 nogil
    cdef int by_distance(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                         vector[Span]* spans) except -1 nogil
    cdef void leave_out(self, Stretch s, Py_ssize_t i, Span* span) noexcept nogil
