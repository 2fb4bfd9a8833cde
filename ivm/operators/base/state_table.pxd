cimport cython
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates

cdef enum:
    ASKED = 32      # keys that are prefetched at once


# A state table is a hash table from a key's words to a state of fixed size.
@cython.final
cdef class Groups:
    cdef readonly tuple strings         # words of the key that hold strings, as in a Trace
    cdef int key_words
    cdef int state_words
    cdef int stride                     # words of an entry: the key, then the state
    cdef Updates rows                   # the entries: dense, with holes
    cdef vector[uint32_t] holes         # entries that are free
    cdef Updates slots                  # of a word: the key's hash, then entry + 1; 0 where empty
    cdef size_t mask                    # how many there are, a power of two, less one
    cdef size_t used
    cdef size_t room                    # bytes of memory, to be read beside a step
    # Finds the entry of `key`; makes one with a zero state if there is none.
    cdef uint32_t find(self, const uint64_t* key) except? 0xFFFFFFFF nogil
    # Makes room for `more` further keys at once.
    cdef int reserve(self, size_t more) except -1 nogil
    # Appends an entry, all zero, for a key that no other has; `index` makes it findable. Only while no entry
    # is indexed.
    cdef uint64_t* append(self) except NULL nogil
    # Makes all entries findable.
    cdef int index(self) except -1 nogil
    cdef int remove(self, uint32_t entry) except -1 nogil
    # Gives memory back where most entries have been removed, and returns True: then the others have moved. Where memory
    # is short, nothing changes.
    cdef bint shrink(self) noexcept nogil
    # The number of entries, with holes (all zero) among them.
    cdef uint32_t length(self) noexcept nogil
    # 1 + the entry of `key`, or 0.
    cdef uint32_t look_up(self, const uint64_t* key) noexcept nogil
    # Prefetches the slot of `key`, and returns the key's hash.
    cdef uint32_t prefetch_slot(self, const uint64_t* key) noexcept nogil
    # Prefetches the entry with this hash, and returns it, plus 1; 0 if there is none.
    cdef uint32_t prefetch_entry(self, uint32_t hash) noexcept nogil
    # Prefetches all of an entry.
    cdef void prefetch_all(self, uint32_t entry) noexcept nogil
    # Prefetches for looking up the next n <= ASKED keys, each `stride` words after the one before.
    cdef void ask(self, const uint64_t* keys, Py_ssize_t stride, Py_ssize_t n) noexcept nogil
    cdef uint64_t* key(self, uint32_t entry) noexcept nogil
    cdef uint64_t* state(self, uint32_t entry) noexcept nogil
    cdef size_t slot_of(self, const uint64_t* key, uint32_t hash) noexcept nogil
    cdef int reserve_slots(self, size_t keys) except -1 nogil
    cdef int grow(self, size_t slots) except -1 nogil
    cdef void measure(self) noexcept nogil
    cdef void place(self, uint64_t held) noexcept nogil
    cdef int _no_memory(self) except -1 nogil
