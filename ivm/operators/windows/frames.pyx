"""Frames of window functions: by rows, by groups of peers, or by distance in the order.

A distance is added to the row's value in the order, or subtracted if the order is descending. A row is in the
frame if it does not lie before the one sum, nor after the other: 5 PRECEDING AND 5 FOLLOWING of the value 20
holds 15 to 25. Of a row whose value is NULL, a distance leads to its peers, as in PostgreSQL.
"""

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.windows.rows cimport Stretch, after_peers, first_peer
from ivm.rows.layout cimport DECIMAL, FLOAT, UNSIGNED
from ivm.rows.words cimport (
    decode_decimal, decode_double, decode_signed, encode_decimal, encode_double, encode_signed, int128_t,
)
from ivm.trace.times cimport compare_words

from ivm.rows.layout import kind_of

cdef extern from *:
    """
    static inline int ivm_add(ivm_int128 a, ivm_int128 b, ivm_int128* sum) {
        return __builtin_add_overflow(a, b, sum);
    }
    """
    bint add_overflows "ivm_add"(int128_t a, int128_t b, int128_t* sum) noexcept nogil

_MOST = 2**62    # rows or groups that an end can be away


cdef inline int64_t _clamped(int64_t i, int64_t length) noexcept nogil:
    return 0 if i < 0 else length if i > length else i


cdef int128_t _wide(value):
    cdef int128_t high = <int64_t> (value >> 64)
    return (high << 64) | <int128_t> <uint64_t> (value & 0xFFFFFFFFFFFFFFFF)


cdef class Frame:
    """The frame `unit` BETWEEN `start` AND `end`, as in `ivm.dataflow.aggregates.Frame`.

    `place` is the position of the order's first column in values, of type `type_`; both None without one.
    """

    def __init__(self, unit, start, end, place, type_):
        distant = unit == "range" and (start or end)
        self.by_rows = unit == "rows"
        self.by_range = bool(distant)
        self.open_start = start is None
        self.open_end = end is None
        if not distant:
            self.start = max(min(start or 0, _MOST), -_MOST)
            self.end = max(min(end or 0, _MOST), -_MOST)
            return
        self.measure.null_word = place.null_word
        self.measure.null = 0 if place.null_flipped else 1
        self.measure.word = place.word
        self.measure.words = place.words
        self.measure.kind = kind_of(type_)
        self.measure.flip = 0xFFFFFFFFFFFFFFFF if place.flipped else 0
        if self.measure.kind == FLOAT:
            self.near_float = start or 0
            self.far_float = end or 0
            # A distance subtracted from one value may be a little short for the way back from the other.
            self.widest_float = 4 * max(abs(self.near_float), abs(self.far_float))
        else:
            self.near = _wide(start or 0)
            self.far = _wide(end or 0)
            self.widest = _wide(max(abs(start or 0), abs(end or 0)))

    cdef int bounds(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                    vector[Py_ssize_t]* starts, vector[Py_ssize_t]* ends) except -1 nogil:
        starts.clear()
        ends.clear()
        starts.reserve(last - first)
        ends.reserve(last - first)
        if self.by_rows:
            return self.by_row(s, first, last, starts, ends)
        if self.by_range:
            return self.by_distance(s, first, last, starts, ends)
        return self.by_group(s, first, last, starts, ends)

    cdef int by_row(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                    vector[Py_ssize_t]* starts, vector[Py_ssize_t]* ends) except -1 nogil:
        cdef Py_ssize_t i, n = s.length()
        for i in range(first, last):
            starts.push_back(0 if self.open_start else _clamped(i + self.start, n))
            ends.push_back(n if self.open_end else _clamped(i + self.end + 1, n))
        return 0

    cdef int by_group(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                      vector[Py_ssize_t]* starts, vector[Py_ssize_t]* ends) except -1 nogil:
        cdef Py_ssize_t i, start = 0, end, n = s.groups.size() - 1
        end = n
        for i in range(first, last):
            if not self.open_start:
                start = _clamped(s.group_of[i] + self.start, n)
            if not self.open_end:
                end = _clamped(s.group_of[i] + self.end + 1, n)
            starts.push_back(s.groups[start])
            ends.push_back(s.groups[end])
        return 0

    cdef int by_distance(self, Stretch s, Py_ssize_t first, Py_ssize_t last,
                         vector[Py_ssize_t]* starts, vector[Py_ssize_t]* ends) except -1 nogil:
        cdef Py_ssize_t i = first, n = s.length(), low = 0, high = 0, start, end, after
        cdef Target target
        while i < last:
            start, end, after = 0, n, min(after_peers(s, i), last)
            if self.is_null(s.rows[i]):
                start = first_peer(s, i)
                end = after_peers(s, i)
            else:
                target = self.target(s.rows[i], self.near, self.near_float)
                while low < n and self.compare(s.rows[low], s.rows[i], &target) < 0:
                    low += 1
                target = self.target(s.rows[i], self.far, self.far_float)
                while high < n and self.compare(s.rows[high], s.rows[i], &target) <= 0:
                    high += 1
                start, end = low, high
            while i < after:
                starts.push_back(0 if self.open_start else start)
                ends.push_back(n if self.open_end else end)
                i += 1
        return 0

    cdef bint is_null(self, const uint64_t* val) noexcept nogil:
        return self.measure.null_word >= 0 and val[self.measure.null_word] == self.measure.null

    cdef bint reaches(self, const uint64_t* earlier, const uint64_t* later) noexcept nogil:
        cdef Target target
        if self.is_null(earlier):
            return self.is_null(later)
        target = self.target(earlier, self.widest, self.widest_float)
        return self.compare(later, earlier, &target) <= 0

    # The value at a distance from a row's, which is not NULL: by `distance`, or `by` if it is a float.
    cdef Target target(self, const uint64_t* val, int128_t distance, double by) noexcept nogil:
        cdef Target target
        cdef uint64_t given[2]
        cdef int128_t value
        cdef bint down = self.measure.flip != 0
        cdef int w, sign = 1 if distance > 0 else -1
        for w in range(self.measure.words):
            given[w] = val[self.measure.word + w] ^ self.measure.flip
        target.beyond = 0
        target.words[1] = 0
        if down:
            distance = -distance
        if self.measure.kind == FLOAT:
            target.words[0] = encode_double(decode_double(given[0]) + (-by if down else by))
        elif self.measure.kind == DECIMAL:
            if add_overflows(decode_decimal(given), distance, &value):
                target.beyond = sign
            encode_decimal(value, target.words)
        elif self.measure.kind == UNSIGNED:
            if add_overflows(<int128_t> given[0], distance, &value) or value < 0 or value >> 64 != 0:
                target.beyond = sign
            target.words[0] = <uint64_t> value
        else:
            if add_overflows(decode_signed(given[0]), distance, &value) or value != <int64_t> value:
                target.beyond = sign
            target.words[0] = encode_signed(<int64_t> value)
        for w in range(self.measure.words):
            target.words[w] ^= self.measure.flip
        return target

    # Compares a value with the target of `current`, which is not NULL.
    cdef int compare(self, const uint64_t* val, const uint64_t* current,
                     const Target* target) noexcept nogil:
        cdef int at = self.measure.null_word
        if at >= 0 and val[at] != current[at]:
            return -1 if val[at] < current[at] else 1
        if target.beyond != 0:
            return -target.beyond
        return compare_words(val + self.measure.word, target.words, self.measure.words)
