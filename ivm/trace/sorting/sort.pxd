from libc.stdint cimport uint64_t

from ivm.rows.updates cimport Updates
from ivm.trace.sorting.bucket_sort cimport Sorting

# Sorts by (row, time), adds up the diffs of equal (row, time) and drops those that come to zero:
# survivors ascend strictly. 0, or -1 where memory is short (then nothing is lost, but unsorted).
cdef int consolidate(Updates* updates) noexcept nogil

# How many of `n` rows, or of all updates, at the beginning need no work: they ascend strictly, and no diff is zero.
cdef Py_ssize_t ascending_run(const uint64_t* row, Py_ssize_t n, int stride, int compared) noexcept nogil
cdef Py_ssize_t run_of(const Updates* updates) noexcept nogil

# Whether updates, of which the first `run` need no work, would be dealt out into buckets before they are sorted.
cdef bint is_worth_dealing(const Updates* updates, Py_ssize_t run) noexcept nogil

# Moves all updates to `dealt`, of the same format, by leading varying bits. Writes where each bucket ends,
# of at most 1 << DIGIT_BITS, and returns how many there are; -1 where memory is short.
cdef Py_ssize_t deal(const Updates* updates, Updates* dealt, Py_ssize_t* ends) noexcept nogil

# --- for who deals rows out by himself, before they are sorted ---

# By how many bits `n` rows are to be dealt out into buckets.
cdef int bits_to_deal(Py_ssize_t n) noexcept nogil

# Finds the first `word` that varies and leaves of its mask the leading bits, `most` at most: how many.
cdef int leading_bits(uint64_t* masks, int compared, int most, int* word) noexcept nogil

# Whether no bit that varies comes before those of `mask`, which are some of one word: `varying` are those
# of that word, `before` those of the words before it.
cdef bint are_leading(uint64_t mask, uint64_t varying, uint64_t before) noexcept nogil

# Sorts and adds up the `n` rows of a bucket into `into`, which has nothing else afterwards; -1 where memory is
# short. Where they were, rows may have other places, and other diffs with the same sum.
cdef int sort_bucket(const Sorting* sorting, uint64_t* rows, Py_ssize_t n, Updates* into) noexcept nogil

# The same of bare rows, which stay so, in `bare`, if no two are equal, and become ordinary ones else, in `ordinary`,
# which `sorting` is for: where they are then.
cdef const Updates* sort_bare_bucket(const Sorting* sorting, uint64_t* words, Py_ssize_t n, Updates* bare,
                                     Updates* ordinary) noexcept nogil

# Sorts and adds up what was dealt out by leading varying bits; writes it to `target`, which has as much
# room, and returns how many remain. `ends` are those of the buckets; `equal` says that no bit varies.
cdef Py_ssize_t sort_dealt(const Sorting* sorting, uint64_t* dealt, const Py_ssize_t* ends,
                           Py_ssize_t buckets, bint equal, uint64_t* target) noexcept nogil
