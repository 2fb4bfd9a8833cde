# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# distutils: language = c++
"""The state of a reduction in a loop: for each key what came in and what went out, by time.

Only the reduction reads it, so it is a hash table of small sorted histories and not a trace: a
change costs one look-up however old the key is. A completed step's root coordinate is told apart
from no other any more and is set to 0 when a key is touched next, which lets entries cancel. Times lie
in the order in which a loop is swept (inner coordinates first, the root last), so that doing so
keeps a history sorted.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from ivm.operators.groups cimport Groups
from ivm.trace.times cimport compare_words


cdef class Curves:
    """Keys of `key_words` words; values in and out of `in_words` and `out_words` words.

    `strings` lists the words of (key, input value) that hold strings, as of a Trace; output
    values have the input's words if `selects`, and no strings otherwise.
    """

    def __init__(self, int key_words, int in_words, int out_words, int time_words,
                 tuple strings, bint selects):
        keys = tuple((word, flipped) for word, flipped in strings if word < key_words)
        values = tuple((word - key_words, flipped) for word, flipped in strings if word >= key_words)
        self.in_strings = values
        self.out_strings = values if selects else ()
        self.groups = Groups(key_words, sizeof(Curve) // sizeof(uint64_t), keys)
        self.time_words = time_words
        self.in_words = in_words
        self.out_words = out_words
        self.in_stride = in_words + time_words + 1
        self.out_stride = out_words + time_words + 1
        self.block_bytes = 0

    def __dealloc__(self):
        cdef uint32_t entry
        if self.groups is not None:
            for entry in range(self.groups.length()):
                free(self.curve(entry).block)

    def account(self) -> tuple[int, int]:
        """Keys held and bytes of memory."""
        keys, memory = self.groups.account()
        return keys, memory + self.block_bytes

    cdef Curve* curve(self, uint32_t entry) noexcept nogil:
        return <Curve*> self.groups.state(entry)

    cdef const uint64_t* key(self, uint32_t entry) noexcept nogil:
        return self.groups.key(entry)

    cdef uint32_t touch(self, const uint64_t* key, uint64_t lower) except? 0xFFFFFFFF nogil:
        cdef uint32_t entry = self.groups.find(key)
        cdef Curve* curve = self.curve(entry)
        cdef int i
        if curve.step != lower + 1:
            self._freshen(curve, lower + 1)
            for i in range(self.time_words):
                curve.low[i] = 0xFFFFFFFFFFFFFFFF
        return entry

    cdef int _freshen(self, Curve* curve, uint64_t step) except -1 nogil:
        cdef uint64_t* outputs = curve.block + curve.input_capacity * self.in_stride
        curve.step = step
        curve.inputs = _settle(curve.block, curve.inputs, self.in_stride)
        curve.outputs = _settle(outputs, curve.outputs, self.out_stride)
        if (curve.input_capacity > 8 + 4 * curve.inputs
                or curve.output_capacity > 8 + 4 * curve.outputs):
            self._reserve(curve, curve.inputs + 1, curve.outputs + 1)
        return 0

    cdef int _reserve(self, Curve* curve, uint32_t inputs, uint32_t outputs) except -1 nogil:
        cdef size_t words = (<size_t> inputs * self.in_stride + <size_t> outputs * self.out_stride)
        cdef uint64_t* block = <uint64_t*> malloc(words * sizeof(uint64_t))
        if block == NULL:
            with gil:
                raise MemoryError("no memory for a key's history in a loop")
        if curve.block != NULL:
            memcpy(block, curve.block, curve.inputs * self.in_stride * sizeof(uint64_t))
            memcpy(block + inputs * self.in_stride,
                   curve.block + curve.input_capacity * self.in_stride,
                   curve.outputs * self.out_stride * sizeof(uint64_t))
            self.block_bytes -= sizeof(uint64_t) * (
                <size_t> curve.input_capacity * self.in_stride
                + <size_t> curve.output_capacity * self.out_stride)
            free(curve.block)
        self.block_bytes += words * sizeof(uint64_t)
        curve.block = block
        curve.input_capacity = inputs
        curve.output_capacity = outputs
        return 0

    cdef int add(self, Curve* curve, bint input, const uint64_t* value, const uint64_t* time,
                 int64_t diff) except -1 nogil:
        cdef uint64_t* entries
        if input:
            if curve.inputs == curve.input_capacity:
                self._reserve(curve, curve.inputs + curve.inputs // 2 + 2, curve.output_capacity)
            curve.inputs = _insert(curve.block, curve.inputs, self.in_words, self.time_words,
                                   value, time, diff)
        else:
            if curve.outputs == curve.output_capacity:
                self._reserve(curve, curve.input_capacity, curve.outputs + curve.outputs // 2 + 1)
            entries = curve.block + <size_t> curve.input_capacity * self.in_stride
            curve.outputs = _insert(entries, curve.outputs, self.out_words, self.time_words,
                                    value, time, diff)
        return 0

    cdef void forget(self, uint32_t entry) noexcept nogil:
        cdef Curve* curve = self.curve(entry)
        self.block_bytes -= sizeof(uint64_t) * (
            <size_t> curve.input_capacity * self.in_stride
            + <size_t> curve.output_capacity * self.out_stride)
        free(curve.block)
        self.groups.remove(entry)


# Sets the entries' roots to 0, adds up those that meet; the number that remain.
cdef uint32_t _settle(uint64_t* entries, uint32_t n, int stride) noexcept nogil:
    cdef uint32_t i, kept = 0
    cdef uint64_t* entry
    cdef uint64_t* last = NULL
    for i in range(n):
        entry = entries + <size_t> i * stride
        entry[stride - 2] = 0
        if last != NULL and compare_words(last, entry, stride - 1) == 0:
            last[stride - 1] += entry[stride - 1]
            continue
        if last != NULL and last[stride - 1] == 0:
            kept -= 1
        last = entries + <size_t> kept * stride
        if last != entry:
            memcpy(last, entry, stride * sizeof(uint64_t))
        kept += 1
    if last != NULL and last[stride - 1] == 0:
        kept -= 1
    return kept


# Adds a diff to the entry of (value, time), which is made or vanishes; the number of entries then.
cdef uint32_t _insert(uint64_t* entries, uint32_t n, int words, int time_words,
                      const uint64_t* value, const uint64_t* time, int64_t diff) noexcept nogil:
    cdef int stride = words + time_words + 1, order
    cdef uint32_t low = 0, high = n, middle
    cdef uint64_t* entry
    while low < high:
        middle = (low + high) // 2
        entry = entries + <size_t> middle * stride
        order = compare_words(entry, value, words)
        if order == 0:
            order = compare_words(entry + words, time, time_words)
        if order == 0:
            entry[stride - 1] += <uint64_t> diff
            if entry[stride - 1] != 0:
                return n
            memmove(entry, entry + stride, <size_t> (n - middle - 1) * stride * sizeof(uint64_t))
            return n - 1
        if order < 0:
            low = middle + 1
        else:
            high = middle
    entry = entries + <size_t> low * stride
    memmove(entry + stride, entry, <size_t> (n - low) * stride * sizeof(uint64_t))
    memcpy(entry, value, words * sizeof(uint64_t))
    memcpy(entry + words, time, time_words * sizeof(uint64_t))
    entry[stride - 1] = <uint64_t> diff
    return n + 1
