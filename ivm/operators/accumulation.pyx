# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# distutils: language = c++
"""Counts, sums and averages: linear in their input, so a state of a few words holds a group.

Integers and decimals add up in 128 bits. Floats add up exactly, in a fixed-point number as wide
as the format's range, so that a sum depends on the values only and not on the order in which they came and went.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from ivm.operators.exact_sum cimport EXACT_WORDS, exact_add, exact_value
from ivm.operators.logic cimport Candidate, Logic
from ivm.rows.updates cimport Updates, push

import pyarrow as pa

from ivm.errors import Unsupported

cdef enum:
    COUNT_ROWS = 0
    COUNT = 1
    SUM = 2
    AVERAGE = 3

cdef enum:
    SIGNED = 0      # one word, sign bit flipped
    UNSIGNED = 1
    DECIMAL = 2     # two words, high first, sign bit flipped
    FLOAT = 3       # one word, order-preserving

cdef uint64_t SIGN = <uint64_t> 1 << 63


def _kind(type_) -> int:
    if pa.types.is_floating(type_):
        return FLOAT
    if pa.types.is_decimal(type_):
        return DECIMAL
    if pa.types.is_unsigned_integer(type_):
        return UNSIGNED
    if pa.types.is_signed_integer(type_):
        return SIGNED
    raise Unsupported(f"a sum or average of {type_}: cast it to a number")


cdef int128 _bound(type_):
    cdef int128 bound = 1
    if pa.types.is_decimal(type_):
        for _ in range(type_.precision):
            bound *= 10
        return bound - 1
    bits = 63 if pa.types.is_floating(type_) else type_.bit_width - 1
    return (bound << <int> bits) - 1


cdef class Accumulation(Logic):
    """`aggregates` over the columns of `fields`, which lie in `source` (an ordered format).

    The output is one word for an error (`overflow`, a string's word) and the results in the ordered format `target`.
    """

    def __init__(self, aggregates, fields, source, target, uint64_t overflow):
        cdef Term term
        cdef int at = 1
        self.overflow = overflow
        for a, out in zip(aggregates, target.places, strict=True):
            memset(&term, 0, sizeof(Term))
            term.state = at
            term.out_null = out.null_word + 1 if out.null_word >= 0 else -1
            term.out = out.word + 1
            term.function = COUNT_ROWS
            if a.column is not None:
                place = source.places[a.column]
                term.function = {"count": COUNT, "sum": SUM, "avg": AVERAGE}[a.function]
                term.null_word = place.null_word
                term.word = place.word
                term.words = place.words
                at += 1
            if term.function >= SUM:
                term.kind = _kind(fields[a.column].type)
                term.out_kind = _kind(a.type)
                term.bound = _bound(a.type)
                term.scale_up = self._scale_up(fields[a.column].type, a.type)
                at += EXACT_WORDS if term.kind == FLOAT else 2
            self.terms.push_back(term)
        self.state_words = at
        self.out_words = target.words + 1

    def _scale_up(self, given, wanted) -> int:
        if pa.types.is_floating(given) or pa.types.is_floating(wanted):
            return 1
        up = getattr(wanted, "scale", 0) - getattr(given, "scale", 0)
        if up < 0:
            raise Unsupported(f"a sum or average of {given} as {wanted}, which has fewer decimal places")
        return 10**up

    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t diff) noexcept nogil:
        cdef Term* t
        cdef size_t i
        cdef int128 value
        state[0] += <uint64_t> diff
        for i in range(self.terms.size()):
            t = &self.terms[i]
            if t.function == COUNT_ROWS or (t.null_word >= 0 and val[t.null_word] != 0):
                continue
            state[t.state] += <uint64_t> diff
            if t.function == COUNT:
                continue
            if t.kind == FLOAT:
                exact_add(state + t.state + 1, val[t.word], diff)
                continue
            if t.kind == DECIMAL:
                value = _int128(val[t.word] ^ SIGN, val[t.word + 1])
            elif t.kind == UNSIGNED:
                value = _int128(0, val[t.word])
            else:
                value = <int64_t> (val[t.word] ^ SIGN)
            value = _int128(state[t.state + 1], state[t.state + 2]) + value * diff
            state[t.state + 1] = <uint64_t> (value >> 64)
            state[t.state + 2] = <uint64_t> value

    cdef void finish(self, const uint64_t* state, uint64_t* out) noexcept nogil:
        cdef Term* t
        cdef size_t i
        cdef int64_t count
        cdef int128 total
        memset(out, 0, self.out_words * sizeof(uint64_t))
        for i in range(self.terms.size()):
            t = &self.terms[i]
            count = <int64_t> state[0 if t.function == COUNT_ROWS else t.state]
            if t.function <= COUNT:
                out[t.out] = <uint64_t> count ^ SIGN
            elif count <= 0:
                if t.out_null >= 0:
                    out[t.out_null] = 1
            elif t.kind == FLOAT:
                out[t.out] = exact_value(state + t.state + 1, count if t.function == AVERAGE else 1)
            else:
                total = _int128(state[t.state + 1], state[t.state + 2]) * t.scale_up
                if t.function == AVERAGE:
                    total = _divide(total, count)
                if total > t.bound or total < -t.bound - (1 if t.out_kind == SIGNED else 0):
                    out[0] = self.overflow
                _write(t, total, out)

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef vector[uint64_t] state
        cdef uint64_t* update
        cdef size_t i
        if group.empty():
            return 0
        state.assign(self.state_words, 0)
        for i in range(group.size()):
            self.add(state.data(), group[0][i].val, group[0][i].count)
        update = push(result)
        if update == NULL:
            with gil:
                raise MemoryError("no memory for an aggregate")
        self.finish(state.data(), update)
        update[result.stride - 1] = 1
        return 0


cdef void _write(const Term* t, int128 total, uint64_t* out) noexcept nogil:
    if t.out_kind == DECIMAL:
        out[t.out] = <uint64_t> (total >> 64) ^ SIGN
        out[t.out + 1] = <uint64_t> total
    elif t.out_kind == FLOAT:
        out[t.out] = _float_word(<double> total)
    else:
        out[t.out] = <uint64_t> total ^ SIGN


cdef inline int128 _int128(uint64_t high, uint64_t low) noexcept nogil:
    return ((<int128> <int64_t> high) << 64) | <int128> low


# Rounds half away from zero, as PostgreSQL's numeric does.
cdef inline int128 _divide(int128 total, int64_t count) noexcept nogil:
    cdef int128 quotient = total / count
    cdef int128 rest = total - quotient * count
    if 2 * (rest if rest >= 0 else -rest) >= count:
        quotient += 1 if total >= 0 else -1
    return quotient


cdef inline uint64_t _float_word(double value) noexcept nogil:
    cdef uint64_t bits
    memcpy(&bits, &value, sizeof(double))
    return ~bits if bits & SIGN else bits | SIGN
