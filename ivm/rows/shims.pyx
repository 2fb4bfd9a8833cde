"""Shims let tests call threads, blocks, hashes and strings from Python, which the engine uses without the GIL."""

from cpython.buffer cimport PyBUF_WRITE
from cpython.memoryview cimport PyMemoryView_FromMemory
from libc.stdint cimport uint64_t

import numpy as np

from ivm.memory.huge_pages cimport give_block, grow_block, moves_together, take_block, whole_pages
from ivm.rows.codec cimport encode_key
from ivm.rows.hashing cimport Partitioner, hash_prefix
from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport Interner, prefix_of
from ivm.threads.team cimport Chore as Posted, begin_chore, end_chore
from ivm.threads.team cimport share_work as share

MOVES_TOGETHER = moves_together


cdef int _do(void* context, Py_ssize_t i) except -1 nogil:
    with gil:
        (<object> context)(i)
    return 0


def share_work(do, Py_ssize_t parts, int threads):
    """Call `do` with each number below `parts`, by several threads."""
    with nogil:
        share(_do, <void*> do, parts, threads)


cdef void _do_safely(void* context, Py_ssize_t i) noexcept nogil:
    with gil:
        (<object> context)(i)


cdef class Chore:
    """A chore lets helpers call `do`, which must not raise, with each number below `parts`."""

    cdef Posted* posted
    cdef object do

    def __init__(self, do, Py_ssize_t parts, int threads):
        self.do = do
        self.posted = begin_chore(_do_safely, <void*> do, parts, threads)
        if self.posted == NULL:
            raise MemoryError("no memory for a chore")

    def end(self):
        """Do the parts that no helper has begun, and wait for the rest: once."""
        with nogil:
            end_chore(self.posted)


cdef class Block:
    """A block with room for so many bytes, given back by `close`, or when nothing refers to it."""

    cdef void* start
    cdef readonly size_t bytes

    def __cinit__(self, size_t bytes):
        self.bytes = whole_pages(bytes)
        self.start = take_block(self.bytes)
        if self.start == NULL:
            raise MemoryError("no memory for a block")

    def __dealloc__(self):
        self.close()

    def view(self):
        """The bytes of the block, shape (bytes,) of uint8, to be dropped before it is closed or grows."""
        memory = PyMemoryView_FromMemory(<char*> self.start, self.bytes, PyBUF_WRITE)
        return np.frombuffer(memory, np.uint8)

    def grow(self, size_t bytes):
        """Make room for so many bytes."""
        cdef void* grown = grow_block(self.start, self.bytes, whole_pages(bytes))
        if grown == NULL:
            raise MemoryError("no memory for a block")
        self.start = grown
        self.bytes = whole_pages(bytes)

    def close(self):
        """Give the block back."""
        if self.start != NULL:
            give_block(self.start, self.bytes)
        self.start = NULL


def hash_of(values, schema, key, Interner interner):
    """Hash the columns at positions `key` of one row of Python values."""
    cdef Layout layout = Layout(schema)
    cdef uint64_t row[256]
    cdef uint64_t hashed
    cdef Partitioner partitioner = Partitioner(layout, key, interner)
    encode_key(values, layout, interner, row)
    partitioner.hash_rows(row, 1, layout.words, &hashed)
    return hashed


def hash_of_first(values, schema, int n, Interner interner):
    """Hash the first `n` columns of one row of Python values."""
    cdef Layout layout = Layout(schema)
    cdef uint64_t row[256]
    encode_key(values, layout, interner, row)
    return hash_prefix(row, n, layout, interner)


def content_of(Interner interner, uint64_t word):
    """Give the content of a word."""
    cdef char buffer[8]
    cdef Py_ssize_t n
    cdef const char* data = interner.view(word, buffer, &n)
    return data[:n]


def order_of(Interner interner, uint64_t a, uint64_t b):
    """Compare contents: negative, zero or positive, as a is below, equal to or above b."""
    return interner.compare(a, b)


def order_prefix_of(Interner interner, uint64_t word):
    """Give the prefix word that orders the content of `word` among all that have another prefix."""
    return prefix_of(interner.strings, word)


def content_hash_of(Interner interner, uint64_t word):
    """Hash a word's content."""
    return interner.hash(word)


def keep_only(Interner interner, words):
    """Release every string but those of `words` and those pinned."""
    cdef uint64_t word
    interner.begin_sweep()
    for word in words:
        interner.mark(&word, 1, 1)
    interner.sweep()
