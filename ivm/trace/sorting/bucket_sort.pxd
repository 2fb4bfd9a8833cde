from libc.stdint cimport uint64_t

from ivm.rows.updates cimport Updates

cdef extern from "sort.hpp" namespace "ivm":
    uint64_t extract_bits(uint64_t word, uint64_t mask) noexcept nogil

cdef enum:
    DIGIT_BITS = 11          # 2,048 counters stay in the first-level cache
    MAX_WORDS = 2064         # an update's words; `ivm.planner.stages` refuses wider ones
    BUCKET_LENGTH = 1 << 14  # rows that are sorted within the second-level cache

# The settings and scratch that all rounds of sorting share.
cdef struct Sorting:
    int stride
    int compared        # words that tell updates apart: all, if they are bare
    uint64_t* entries   # scratch for twice a bucket's rows, or twice all

# Prepares sorting of at most `n` rows; -1 where memory is short.
cdef int begin_sorting(Sorting* sorting, int stride, int compared, Py_ssize_t n) noexcept nogil
cdef void end_sorting(Sorting* sorting) noexcept nogil

# Adds to `masks`, per word, the bits that differ between any of `n` rows and `reference`.
cdef void note_varying_bits(const uint64_t* reference, const uint64_t* words, Py_ssize_t n,
                            int stride, int compared, uint64_t* masks) noexcept nogil

# Sorts and consolidates `n` <= BUCKET_LENGTH rows into `target`; returns the number of survivors.
cdef Py_ssize_t sort_in_cache(const Sorting* sorting, const uint64_t* rows, uint64_t* target,
                              Py_ssize_t n) noexcept nogil

# --- of bare rows ---

# Sorts the entries of the rows, whose last bits are positions; True if the others hold all bits that vary.
cdef bint sort_places(const Sorting* sorting, const uint64_t* rows, Py_ssize_t n,
                      int* bits_of_position) noexcept nogil

# Moves the rows to `target` in the order of the entries; stops with False at equal rows.
cdef bint gather_distinct(const Sorting* sorting, const uint64_t* rows, uint64_t* target, Py_ssize_t n, int low,
                          bint whole) noexcept nogil

# Moves bare rows to `target` as ordinary updates, with the number of equal rows as the diff. Returns their
# number.
cdef Py_ssize_t gather_counted(const Sorting* sorting, const Updates* rows, uint64_t* target, int low,
                               bint whole) noexcept nogil
