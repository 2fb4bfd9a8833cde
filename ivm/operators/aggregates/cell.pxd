# Cells read one column of values in an ordered format.

from libc.stdint cimport uint64_t

# The position of a column; see `ivm.rows.format.Place`.
cdef struct Cell:
    int null_word       # its flag, or -1
    uint64_t null       # the flag of NULL
    int word
    int words
    uint64_t flip       # all ones where descending


cdef inline Cell cell_of(place) except *:
    return Cell(place.null_word, 0 if place.null_flipped else 1, place.word, place.words,
                0xFFFFFFFFFFFFFFFF if place.flipped else 0)


cdef inline bint is_null(const Cell* cell, const uint64_t* val) noexcept nogil:
    return cell.null_word >= 0 and val[cell.null_word] == cell.null


# Reads the column's words, ascending; there are at most two.
cdef inline void read_cell(const Cell* cell, const uint64_t* val, uint64_t* words) noexcept nogil:
    cdef int i
    for i in range(cell.words):
        words[i] = val[cell.word + i] ^ cell.flip
