from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from ivm.operators.windows.frames cimport Frame
from ivm.operators.windows.measures cimport Measure
from ivm.operators.windows.rows cimport Stretch
from ivm.rows.words cimport decode_signed

# The scope of a change: the rows whose results it can reach.
cdef enum Scope:
    NEAR        # rows at most `reach` rows, groups or values or a `measured` distance away
    ONWARD      # these, and all later rows
    WHOLE       # all of the partition

# One column of values or results.
cdef struct Cell:
    int null_word       # its flag, or -1
    int word
    int words


# Locates a column's words; results lie behind `offset` words.
cdef inline Cell cell_at(place, int offset) except *:
    return Cell(place.null_word + offset if place.null_word >= 0 else -1, place.word + offset,
                place.words)


cdef inline bint has_null(const Cell* cell, const uint64_t* val) noexcept nogil:
    return cell.null_word >= 0 and val[cell.null_word] != 0


cdef inline void set_null(const Cell* to, uint64_t* target) noexcept nogil:
    if to.null_word >= 0:
        target[to.null_word] = 1


# Copies a value. The words of a NULL may hold anything.
cdef inline void copy_value(const Cell* given, const uint64_t* val, const Cell* to,
                            uint64_t* target) noexcept nogil:
    if has_null(given, val):
        set_null(to, target)
    else:
        memcpy(target + to.word, val + given.word, given.words * sizeof(uint64_t))


# A number that a function counts with: the same for all rows, or each row's value of a column.
cdef struct Number:
    int64_t constant
    bint varies
    Cell column


cdef inline Number number_of(count, place) except *:
    cdef Number number
    number.constant = count
    number.varies = place is not None
    if place is not None:
        number.column = cell_at(place, 0)
    return number


# A row's number; False where it is NULL.
cdef inline bint read_number(const Number* number, const uint64_t* val, int64_t* value) noexcept nogil:
    value[0] = number.constant
    if number.varies:
        if has_null(&number.column, val):
            return False
        value[0] = decode_signed(val[number.column.word])
    return True


# A window function computes a result for each row of a partition. A row's results are `stride` words: 0 or an
# error's word, then every call's, zeros so far.
cdef class WindowFunction:
    cdef Scope scope
    cdef int64_t reach
    cdef int64_t reach_groups
    cdef int64_t reach_values       # or so many rows away whose `argument` is not NULL
    cdef Measure measured
    cdef readonly bint asks_head        # needs the partition's first row beside the stretch
    cdef readonly bint asks_peers       # depends on the groups of peers
    cdef readonly int state_words       # words of the state of the rows before, if it is ONWARD
    cdef Cell argument                  # the column of the values that it takes, if any
    cdef Cell result
    # Sets the scope of a function that depends on the rows of `frame`.
    cdef int look_through(self, Frame frame) except -1
    # Adds `count` copies of a value to a state.
    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t count) noexcept nogil
    # Writes the results of the rows from `first` to `last`. `results` are those of row 0, and `before` is the
    # state of the rows before the stretch.
    cdef int evaluate(self, Stretch s, Py_ssize_t first, Py_ssize_t last, const uint64_t* before,
                      uint64_t* results, int stride) except -1 nogil
