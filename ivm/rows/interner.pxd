# Strings as words: equal strings have equal words, and `compare` orders them by content.
#
# Up to 7 bytes lie in the word itself: big-endian from the top, the length in the low byte. A
# longer string has the low byte 0xFF, its first three bytes on top, and between them the 32-bit id
# of its entry in the pool's interner.

from libc.stdint cimport uint32_t, uint64_t
from libcpp.mutex cimport mutex

from ivm.memory.arena cimport Contents

cdef extern from *:
    """
    #define IVM_NO_STRING UINT64_MAX
    """
    # The error of `encode`: memory is short, or 2^28 strings of one stripe are in use.
    const uint64_t NO_STRING "IVM_NO_STRING"


cdef struct Entry:
    char* data        # the content; NULL for an entry that is free
    uint64_t hash     # of the content
    uint32_t length   # bytes
    uint32_t next     # of a free entry: the next one, from 1, or 0


# Entries never move: chunk k holds 64 << k of them.
cdef struct Stripe:
    mutex* lock
    Entry* chunks[23]
    uint32_t used        # entries ever handed out
    uint32_t free        # the first free entry among them, from 1, or 0
    uint32_t live        # entries that hold a string
    uint64_t* slots      # the upper half of a content's hash, then its entry, from 1; 0 where empty
    uint32_t mask        # slots less one
    uint64_t* marks      # during a sweep: a bit for each entry that there was when it began
    uint32_t marked      # entries that have one
    size_t bytes         # of entries and slots
    Contents contents


cdef struct Strings:
    Stripe stripes[16]   # a string's stripe is the low bits of its hash, and of its id


# The word of `n` bytes; NO_STRING where it cannot be kept. Safe from several threads.
cdef uint64_t intern(Strings* strings, const char* data, Py_ssize_t n) noexcept nogil

cdef enum:
    TOGETHER = 256      # contents that are interned at once

# The words of at most TOGETHER contents, whose look-ups wait for memory together; -1 where one cannot
# be kept. Safe from several threads.
cdef int intern_together(Strings* strings, const char** data, const Py_ssize_t* lengths, int n,
                         uint64_t* words) noexcept nogil

# The content and its length: within the interner until the string is swept, or in `buffer` (8 bytes).
cdef const char* view(const Strings* strings, uint64_t word, char* buffer, Py_ssize_t* n) noexcept nogil

# Negative, zero or positive, by the order of the bytes.
cdef int compare(const Strings* strings, uint64_t a, uint64_t b) noexcept nogil

# A word that no content below this one exceeds: of up to 7 bytes the string's own word, else the first
# eight bytes, the last of them raised to 8 at least. Only contents of more than 7 bytes, whose low byte
# is then above 7, share it with others.
cdef uint64_t prefix_of(const Strings* strings, uint64_t word) noexcept nogil

# A hash of the content, equal in every process.
cdef uint64_t content_hash(const Strings* strings, uint64_t word) noexcept nogil


# The strings of one pool. `view`, `compare` and `hash` take no lock. To release strings, call
# `begin_sweep`, `mark` every word in use, and `sweep`, all while no other thread uses the interner.
# Where `begin_sweep` raises MemoryError, nothing is released.
cdef class Interner:
    cdef Strings* strings
    cdef readonly int snapshots  # readers that hold words outside a step; they exclude a sweep
    cdef dict _pins  # words that a sweep keeps, with the number of their users

    cdef size_t held_bytes(self) noexcept nogil
    cdef uint64_t encode(self, const char* data, Py_ssize_t n) noexcept nogil
    cdef const char* view(self, uint64_t word, char* buffer, Py_ssize_t* n) noexcept nogil
    cdef int compare(self, uint64_t a, uint64_t b) noexcept nogil
    cdef uint64_t hash(self, uint64_t word) noexcept nogil
    cdef int begin_sweep(self) except -1 nogil
    # Marks the strings at words[0], words[stride], ... (n of them).
    cdef void mark(self, const uint64_t* words, Py_ssize_t n, Py_ssize_t stride) noexcept nogil
    cdef void sweep(self) noexcept
    cpdef void open_snapshot(self) noexcept
    cpdef void close_snapshot(self) noexcept
    # Keeps a word through sweeps until it is unpinned as often as it was pinned.
    cdef int pin(self, uint64_t word) except -1
    cdef int unpin(self, uint64_t word) except -1
