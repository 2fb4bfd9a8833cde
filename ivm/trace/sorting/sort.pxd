from libc.stdint cimport uint64_t

from ivm.rows.updates cimport Updates
from ivm.trace.sorting.bucket_sort cimport Sorting

# Consolidates: sorts by (row, time), adds up the diffs of equal (row, time) and drops zeros. Survivors ascend
# strictly. 0, or -1 where memory is short (then nothing is lost, but unsorted).
cdef int consolidate(Updates* updates) noexcept nogil

# The length of the leading run of `n` rows, or of all updates, that ascends strictly without a zero diff.
cdef Py_ssize_t ascending_run(const uint64_t* row, Py_ssize_t n, int stride, int compared) noexcept nogil
cdef Py_ssize_t run_of(const Updates* updates) noexcept nogil

# True if updates, of which the first `run` are consolidated, would be partitioned into buckets before they
# are sorted.
cdef bint is_worth_dealing(const Updates* updates, Py_ssize_t run) noexcept nogil

# Partitions all updates into `dealt`, of the same format, by leading varying bits. Writes the end of each
# bucket, of at most 1 << DIGIT_BITS, and returns the number of buckets; -1 where memory is short.
cdef Py_ssize_t deal(const Updates* updates, Updates* dealt, Py_ssize_t* ends) noexcept nogil

# --- for rows that are partitioned before they are sorted ---

# The number of bits by which `n` rows are partitioned into buckets.
cdef int bits_to_deal(Py_ssize_t n) noexcept nogil

# Finds the first `word` that varies and leaves at most `most` leading bits of its mask; returns their number.
cdef int leading_bits(uint64_t* masks, int compared, int most, int* word) noexcept nogil

# True if no varying bit comes before those of `mask`, which are some of one word. `varying` are the varying
# bits of that word, `before` those of the words before it.
cdef bint are_leading(uint64_t mask, uint64_t varying, uint64_t before) noexcept nogil

# Consolidates the `n` rows of a bucket into `into`, whose contents they replace; -1 where memory is short.
# The source rows may be reordered, and have other diffs with the same sum.
cdef int sort_bucket(const Sorting* sorting, uint64_t* rows, Py_ssize_t n, Updates* into) noexcept nogil

# Sorts a bucket of bare rows: into `bare` if no two are equal, or as ordinary updates into `ordinary`, for
# which `sorting` is. Returns the one that was filled.
cdef const Updates* sort_bare_bucket(const Sorting* sorting, uint64_t* words, Py_ssize_t n, Updates* bare,
                                     Updates* ordinary) noexcept nogil

# Consolidates rows that were partitioned by leading varying bits into `target`, which has as much room, and
# returns the number of survivors. `ends` are those of the buckets; `equal` says that no bit varies.
cdef Py_ssize_t sort_dealt(const Sorting* sorting, uint64_t* dealt, const Py_ssize_t* ends,
                           Py_ssize_t buckets, bint equal, uint64_t* target) noexcept nogil
