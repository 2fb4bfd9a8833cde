"""Scatter sends every row to the process that owns its key, or to all processes.

The members of a cluster each run one at the same place of the same dataflow. Their stage makes blocks of
what has come, hands them to the mesh, and gives the operator the blocks of the others (`ivm.runtime.meeting`).

A block holds updates as they lie in memory. A string longer than seven bytes is there once, however many
rows have it: in its word stands the string's number in the block, since no process knows the words of another:

    updates, strings: two 64-bit words
    the updates, row after row
    the length of each string, and then their bytes
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.unordered_map cimport unordered_map
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator, Region, let_go
from ivm.operators.linear.combiner cimport Summed, combine
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.rows.interner cimport NO_STRING, Interner
from ivm.rows.updates cimport (
    Updates, append, bytes_of, empty_updates, release, release_large, update_at,
)

cdef enum:
    LONG = 0xFF     # the low byte of a word that names a string of the interner
    HEADER = 16     # bytes


cdef class Scatter(Operator):
    """Sends the rows of `source` to their owners among the members of `mesh`, or to all without a `partitioner`.

    `strings` are the words of a row that hold strings. If rows are only counted, and the columns `summed` added up,
    fewer may travel (None: they may not); a column is (word, words, word of its NULL, bit of that).
    """

    def __init__(self, Region region, int row_words, Operator source, Partitioner partitioner,
                 Interner interner, tuple strings, summed, mesh):
        self.source = source
        self.partitioner = partitioner
        self.interner = interner
        for word in strings:
            self.strings.push_back(word)
        self.combines = summed is not None
        for word, words, null_word, null_bit in summed or ():
            self.summed.push_back(Summed(word, words, null_word, null_bit))
        self.mesh = mesh
        self.received = empty_updates(row_words, region.depth)
        self.outgoing.resize(mesh.members, self.received)

    def __dealloc__(self):
        cdef size_t member
        release(&self.received)
        for member in range(self.outgoing.size()):
            release(&self.outgoing[member])

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.received.length

    cdef int step(self) except -1 nogil:
        self.out, self.received = self.received, self.out
        self.received.length = 0
        return 0

    cdef void abandon(self) noexcept nogil:
        self.out.length = self.received.length = 0

    cdef size_t held_bytes(self) noexcept nogil:
        cdef size_t member, held = bytes_of(&self.out) + bytes_of(&self.received)
        for member in range(self.outgoing.size()):
            held += bytes_of(&self.outgoing[member])
        return held

    cdef list blocks(self):
        cdef size_t member, own = self.mesh.member
        cdef list made = []
        with nogil:
            self.deal()
            if self.combines:
                for member in range(self.outgoing.size()):
                    if member != own:
                        combine(&self.outgoing[member], &self.summed)
        for member in range(self.outgoing.size()):
            if member == own or self.outgoing[member].length == 0:
                made.append(b"")
            else:
                made.append(block_of(&self.outgoing[member], &self.strings, self.interner))
        if append(&self.received, self.outgoing[own].words, self.outgoing[own].length) < 0:
            self.no_memory()
        for member in range(self.outgoing.size()):
            self.outgoing[member].length = 0
            release_large(&self.outgoing[member])
        return made

    # Appends the source's rows to those for their owners.
    cdef int deal(self) except -1 nogil:
        cdef const Updates* given = &self.source.out
        cdef const uint64_t* update
        cdef Py_ssize_t i
        cdef size_t member, members = self.outgoing.size()
        if self.partitioner is None:
            for member in range(members):
                if append(&self.outgoing[member], given.words, given.length) < 0:
                    self.no_memory()
        else:
            for i in range(given.length):
                update = update_at(given, i)
                member = owner_of(update, members, self.partitioner)
                if append(&self.outgoing[member], update, 1) < 0:
                    self.no_memory()
        let_go(self.source)
        return 0

    cdef int take(self, const unsigned char[::1] block) except -1:
        cdef Py_ssize_t before = self.received.length
        try:
            if not append_block(&self.received, block, &self.strings, self.interner):
                raise ValueError(f"a block of {len(block):,} bytes that does not hold what it says")
        except BaseException:
            self.received.length = before
            raise
        return 0

    cdef int no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory to exchange updates between processes")


# The block of `updates`, which are changed: the words of long strings become numbers.
cdef bytes block_of(Updates* updates, const vector[int]* words, Interner interner):
    cdef unordered_map[uint64_t, uint64_t] numbers
    cdef vector[const char*] contents
    cdef vector[uint64_t] lengths
    cdef char buffer[8]
    cdef Py_ssize_t i, length
    cdef uint64_t* word
    cdef uint64_t number
    cdef size_t w, size = <size_t> updates.length * updates.stride * sizeof(uint64_t)
    cdef size_t total = HEADER + size
    cdef bytes block
    cdef char* at
    for i in range(updates.length if words.size() > 0 else 0):
        for w in range(words.size()):
            word = update_at(updates, i) + words[0][w]
            if word[0] & LONG != LONG:
                continue
            if numbers.count(word[0]) == 0:
                number = contents.size()
                numbers[word[0]] = number
                contents.push_back(interner.view(word[0], buffer, &length))
                lengths.push_back(<uint64_t> length)
                total += sizeof(uint64_t) + <size_t> length
            word[0] = numbers[word[0]] << 8 | LONG
    block = PyBytes_FromStringAndSize(NULL, total)
    at = PyBytes_AS_STRING(block)
    (<uint64_t*> at)[0] = <uint64_t> updates.length
    (<uint64_t*> at)[1] = contents.size()
    at += HEADER
    memcpy(at, updates.words, size)
    at += size
    if contents.size() > 0:
        memcpy(at, lengths.data(), lengths.size() * sizeof(uint64_t))
        at += lengths.size() * sizeof(uint64_t)
    for w in range(contents.size()):
        memcpy(at, contents[w], lengths[w])
        at += lengths[w]
    return block


# Appends the updates of a block; False if its lengths do not add up to its own.
cdef bint append_block(Updates* updates, const unsigned char[::1] block, const vector[int]* words,
                       Interner interner) except -1:
    cdef const char* at = <const char*> &block[0]
    cdef size_t left = block.shape[0], stride = updates.stride * sizeof(uint64_t)
    cdef uint64_t count, strings, length
    cdef const uint64_t* lengths
    cdef vector[uint64_t] interned
    cdef Py_ssize_t i, first = updates.length
    cdef uint64_t* word
    cdef size_t w
    if left < HEADER:
        return False
    count, strings = (<const uint64_t*> at)[0], (<const uint64_t*> at)[1]
    at += HEADER
    left -= HEADER
    if count > left // stride or strings > (left - count * stride) // sizeof(uint64_t):
        return False
    if append(updates, <const uint64_t*> at, <Py_ssize_t> count) < 0:
        raise MemoryError("no memory to receive updates")
    lengths = <const uint64_t*> (at + count * stride)
    at += count * stride + strings * sizeof(uint64_t)
    left -= count * stride + strings * sizeof(uint64_t)
    for w in range(strings):
        length = lengths[w]
        if length > left:
            return False
        interned.push_back(interner.encode(at, <Py_ssize_t> length))
        if interned.back() == NO_STRING:
            raise MemoryError("no memory to receive strings")
        at += length
        left -= length
    for i in range(first, updates.length if words.size() > 0 else first):
        for w in range(words.size()):
            word = update_at(updates, i) + words[0][w]
            if word[0] & LONG != LONG:
                continue
            if word[0] >> 8 >= strings:
                return False
            word[0] = interned[word[0] >> 8]
    return left == 0
