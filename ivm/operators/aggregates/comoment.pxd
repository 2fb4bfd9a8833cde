# Comoments: exact sums of products of deviations from the mean, which can be retracted.
#
# Σ (x − mean x)(y − mean y) = (n Σxy − Σx Σy) / n: of the pairs (1, 2) and (3, 6), (2·20 − 4·8) / 2 = 4. The
# sums are kept exactly, so that the result is the float nearest to the true one. It may be infinite.

from libc.stdint cimport int64_t, uint64_t

cdef extern from *:
    """
    typedef __int128 ivm_int128;
    """
    ctypedef long long int128 "ivm_int128"

cdef enum:
    NUMBER_WORDS = 10   # the sum in 4 words, of squares in 6; two's complement, the lowest first
    FLOAT_WORDS = 105   # an exact sum, and that of squares in 68 words, in units of 2**-2148
    PAIR_WORDS = 142    # two exact sums, and that of products

# Adds `diff` copies of a number, which stands for both x and y.
cdef void add_number(uint64_t* state, int128 value, int64_t diff) noexcept nogil

# Adds other sums, of numbers, of floats, or of pairs.
cdef void merge_numbers(uint64_t* state, const uint64_t* other) noexcept nogil
cdef void merge_floats(uint64_t* state, const uint64_t* other) noexcept nogil
cdef void merge_pairs(uint64_t* state, const uint64_t* other) noexcept nogil

# Divides for `n` such numbers, which are integers of unit 10**-scale; the result is an order-preserving word.
cdef uint64_t comoment_of_numbers(const uint64_t* state, int64_t n, int scale) noexcept nogil

# Adds `diff` copies of the float that the order-preserving word `x` encodes.
cdef void add_float(uint64_t* state, uint64_t x, int64_t diff) noexcept nogil

# Divides for `n` floats; NaN where one is not finite.
cdef uint64_t comoment_of_floats(const uint64_t* state, int64_t n) noexcept nogil

# Adds `diff` copies of a pair of floats.
cdef void add_pair(uint64_t* state, uint64_t x, uint64_t y, int64_t diff) noexcept nogil

# Divides for `n` pairs.
cdef uint64_t comoment_of_pairs(const uint64_t* state, int64_t n) noexcept nogil
