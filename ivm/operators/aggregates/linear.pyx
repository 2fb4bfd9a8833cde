"""Linear aggregates: counts, sums, averages, comoments, bits, whose states add up: S(A + B) = S(A) + S(B).

So a state holds a group, without a history: a sum of 5 and 7 with the 5 retracted is the state of 7. Integers
and decimals add up in 192 bits: an overflow of a type must be seen, and may come back into its range. Floats
add up exactly, in a fixed-point number as wide as the format's range, so that a sum depends on the values
only and not on the order in which they came and went. Of bits the state counts the values that have each (of
3, 6 and 7 all three have bit 1); for `bit_xor` it is the parity of that.
"""

from libc.math cimport isinf
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset
from libcpp.vector cimport vector

from ivm.operators.aggregates.comoment cimport (
    FLOAT_WORDS,
    NUMBER_WORDS,
    PAIR_WORDS,
    add_float,
    add_number,
    add_pair,
    comoment_of_floats,
    comoment_of_numbers,
    comoment_of_pairs,
    int128,
    merge_floats,
    merge_numbers,
    merge_pairs,
)
from ivm.operators.aggregates.exact_sum cimport EXACT_WORDS, exact_add, exact_merge, exact_value
from ivm.operators.aggregates.aggregate cimport Logic
from ivm.operators.aggregates.ordering cimport Candidate
from ivm.expressions.kernels.decimals cimport power_of_ten, quotient_digits, round_division
from ivm.rows.updates cimport Updates, push
from ivm.rows.words cimport decode_double, encode_double
from ivm.trace.counts cimport add_to

import pyarrow as pa

from ivm.dataflow.aggregates import LINEAR as _LINEAR
from ivm.errors import Unsupported
from ivm.dataflow.exhaustive import check_complete

cdef enum:
    COUNT_ROWS = 0
    COUNT = 1
    SUM = 2
    AVERAGE = 3
    COMOMENT = 4
    BIT_AND = 5
    BIT_OR = 6
    BIT_XOR = 7

cdef enum:
    SIGNED = 0      # one word, sign bit flipped
    UNSIGNED = 1
    DECIMAL = 2     # two words, high first, sign bit flipped
    FLOAT = 3       # one word, order-preserving

cdef enum:
    WIDE_WORDS = 3  # of an exact sum, the highest first
    WORD_BITS = 64
    DIGITS_AT_ONCE = 9      # of an average: their product mostly stays within 64 bits

cdef uint64_t SIGN = <uint64_t> 1 << 63


_FUNCTIONS = {
    "count": COUNT,
    "sum": SUM,
    "avg": AVERAGE,
    "comoment": COMOMENT,
    "bit_and": BIT_AND,
    "bit_or": BIT_OR,
    "bit_xor": BIT_XOR,
}
check_complete("the table of accumulated aggregates", _FUNCTIONS, _LINEAR)


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


def _out_kind(kind, given, wanted) -> int:
    """The encoding as `wanted` of a sum or average of `given`, of this kind."""
    cdef int out = _kind(wanted)
    if out == UNSIGNED or (kind == FLOAT and out != FLOAT) or (kind == DECIMAL and out == FLOAT):
        raise Unsupported(f"a sum or average of {given} as {wanted}")
    return out


cdef int128 _bound(type_):
    cdef int128 bound = 1
    if pa.types.is_decimal(type_):
        for _ in range(type_.precision):
            bound *= 10
        return bound - 1
    bits = 63 if pa.types.is_floating(type_) else type_.bit_width - 1
    return (bound << <int> bits) - 1


# Says how `term` computes the aggregate `a`; returns how many words it keeps besides the count of values.
cdef int _lay_out(Term* term, a, fields, source) except -1:
    if term.function in (SUM, AVERAGE):
        return _lay_out_sum(term, fields[a.column].type, a.type)
    if term.function >= BIT_AND:
        return _lay_out_bits(term, a, fields[a.column].type)
    if a.type != (pa.float64() if term.function == COMOMENT else pa.int64()):
        raise Unsupported(f"a {a.function} as {a.type}")
    return _lay_out_comoment(term, a, fields, source) if term.function == COMOMENT else 0


cdef int _lay_out_sum(Term* term, given, wanted) except -1:
    term.kind = _kind(given)
    term.out_kind = _out_kind(term.kind, given, wanted)
    term.narrow = pa.types.is_float32(wanted)
    term.bound = _bound(wanted)
    term.scale = getattr(given, "scale", 0)
    term.more = _more_digits(given, wanted)
    term.limit = term.bound / power_of_ten(term.more)
    return EXACT_WORDS if term.kind == FLOAT else WIDE_WORDS


cdef int _lay_out_comoment(Term* term, a, fields, source) except -1:
    given = fields[a.column].type
    term.kind = _kind(given)
    term.scale = getattr(given, "scale", 0)
    if a.other is None:
        return FLOAT_WORDS if term.kind == FLOAT else NUMBER_WORDS
    other = fields[a.other].type
    if not (pa.types.is_floating(given) and pa.types.is_floating(other)):
        raise Unsupported(f"a comoment of {given} and {other}: cast them to floats")
    term.other_null = source.places[a.other].null_word
    term.other = source.places[a.other].word
    return PAIR_WORDS


cdef int _lay_out_bits(Term* term, a, given) except -1:
    if not pa.types.is_integer(given) or a.type != given:
        raise Unsupported(f"a {a.function} of {given} as {a.type}: it takes integers and has their type")
    term.kind = _kind(given)
    return 1 if term.function == BIT_XOR else WORD_BITS


def _more_digits(given, wanted) -> int:
    if pa.types.is_floating(given) or pa.types.is_floating(wanted):
        return 0
    up = getattr(wanted, "scale", 0) - getattr(given, "scale", 0)
    if up < 0:
        raise Unsupported(f"a sum or average of {given} as {wanted}, which has fewer decimal places")
    return up


cdef class Accumulation(Logic):
    """Accumulates `aggregates` over the columns of `fields`, which lie in `source` (an ordered format).

    The output is one word for an error (`overflow`, a string's word) and the results in the ordered format `target`.
    """

    def __init__(self, aggregates, fields, source, target, uint64_t overflow):
        cdef Term term
        self.overflow = overflow
        self.nets = True
        self.state_words = 1
        for a, out in zip(aggregates, target.places, strict=True):
            memset(&term, 0, sizeof(Term))
            term.state = self.state_words
            term.out_null = out.null_word + 1 if out.null_word >= 0 else -1
            term.out = out.word + 1
            term.function = COUNT_ROWS
            term.other = -1
            if a.column is not None:
                place = source.places[a.column]
                term.function = _FUNCTIONS[a.function]
                term.null_word = place.null_word
                term.word = place.word
                term.words = place.words
                self.state_words += 1
            self.state_words += _lay_out(&term, a, fields, source)
            self.terms.push_back(term)
        self.out_words = target.words + 1

    cdef void add(self, uint64_t* state, const uint64_t* val, int64_t diff) noexcept nogil:
        cdef Term* t
        cdef size_t i
        cdef int128 value
        add_to(state, <uint64_t> diff)
        for i in range(self.terms.size()):
            t = &self.terms[i]
            if t.function == COUNT_ROWS or (t.null_word >= 0 and val[t.null_word] != 0):
                continue
            if t.other >= 0 and t.other_null >= 0 and val[t.other_null] != 0:
                continue
            add_to(state + t.state, <uint64_t> diff)
            if t.function == COUNT:
                continue
            if t.function >= BIT_AND:
                _add_bits(t, state + t.state + 1, val[t.word], diff)
                continue
            if t.kind == FLOAT:
                _add_float(t, state + t.state + 1, val, diff)
                continue
            if t.kind == DECIMAL:
                value = _int128(val[t.word] ^ SIGN, val[t.word + 1])
            elif t.kind == UNSIGNED:
                value = _int128(0, val[t.word])
            else:
                value = <int64_t> (val[t.word] ^ SIGN)
            if t.function == COMOMENT:
                add_number(state + t.state + 1, value, diff)
            else:
                _wide_add(state + t.state + 1, value, diff)

    cdef void merge(self, uint64_t* state, const uint64_t* other) noexcept nogil:
        cdef Term* t
        cdef size_t i
        add_to(state, other[0])
        for i in range(self.terms.size()):
            t = &self.terms[i]
            if t.function == COUNT_ROWS:
                continue
            add_to(state + t.state, other[t.state])
            if t.function == COUNT:
                continue
            if t.function >= BIT_AND:
                _merge_bits(t, state + t.state + 1, other + t.state + 1)
            elif t.function == COMOMENT:
                _merge_comoments(t, state + t.state + 1, other + t.state + 1)
            elif t.kind == FLOAT:
                exact_merge(state + t.state + 1, other + t.state + 1)
            else:
                _wide_merge(state + t.state + 1, other + t.state + 1)

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
            elif t.function == COMOMENT:
                out[t.out] = _comoment(t, state + t.state + 1, count)
                if isinf(decode_double(out[t.out])):
                    out[0] = self.overflow
            elif t.function >= BIT_AND:
                out[t.out] = _bits(t, state + t.state + 1, count)
            elif t.kind == FLOAT:
                if not exact_value(state + t.state + 1, count if t.function == AVERAGE else 1,
                                   &out[t.out]) or (t.narrow and not _narrow(&out[t.out])):
                    out[0] = self.overflow
            elif _wide_value(state + t.state + 1, t, count, &total):
                _write(t, total, out)
            else:
                out[0] = self.overflow

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef vector[uint64_t] state
        cdef size_t i
        if group.empty():
            return 0
        state.resize(self.state_words, 0)
        for i in range(group.size()):
            self.add(state.data(), group[0][i].val, group[0][i].count)
        return self.put(state.data(), result)

    cdef int put(self, const uint64_t* state, Updates* result) except -1 nogil:
        cdef uint64_t* update
        if <int64_t> state[0] <= 0:
            return 0
        update = push(result)
        if update == NULL:
            with gil:
                raise MemoryError("no memory for an aggregate")
        self.finish(state, update)
        update[result.stride - 1] = 1
        return 0


cdef void _add_float(const Term* t, uint64_t* sums, const uint64_t* val, int64_t diff) noexcept nogil:
    if t.function != COMOMENT:
        exact_add(sums, val[t.word], diff)
    elif t.other < 0:
        add_float(sums, val[t.word], diff)
    else:
        add_pair(sums, val[t.word], val[t.other], diff)


# Bits are those of two's complement; as words, the sign of a signed number is flipped.
cdef inline uint64_t _flipped(const Term* t, uint64_t word) noexcept nogil:
    return word ^ SIGN if t.kind == SIGNED else word


cdef inline void _add_bits(const Term* t, uint64_t* state, uint64_t word, int64_t diff) noexcept nogil:
    cdef uint64_t bits = _flipped(t, word)
    cdef int i
    if t.function == BIT_XOR:
        state[0] ^= bits if diff & 1 else 0
        return
    for i in range(WORD_BITS):
        state[i] += <uint64_t> diff * (bits >> i & 1)


cdef void _merge_bits(const Term* t, uint64_t* state, const uint64_t* other) noexcept nogil:
    cdef int i
    if t.function == BIT_XOR:
        state[0] ^= other[0]
        return
    for i in range(WORD_BITS):
        state[i] += other[i]


cdef inline uint64_t _bits(const Term* t, const uint64_t* state, int64_t count) noexcept nogil:
    cdef int64_t least = count if t.function == BIT_AND else 1
    cdef uint64_t bits = 0
    cdef int i
    if t.function == BIT_XOR:
        return _flipped(t, state[0])
    for i in range(WORD_BITS):
        if <int64_t> state[i] >= least:
            bits |= <uint64_t> 1 << i
    return _flipped(t, bits)


cdef uint64_t _comoment(const Term* t, const uint64_t* sums, int64_t count) noexcept nogil:
    if t.kind != FLOAT:
        return comoment_of_numbers(sums, count, t.scale)
    if t.other < 0:
        return comoment_of_floats(sums, count)
    return comoment_of_pairs(sums, count)


cdef void _merge_comoments(const Term* t, uint64_t* sums, const uint64_t* others) noexcept nogil:
    if t.kind != FLOAT:
        merge_numbers(sums, others)
    elif t.other < 0:
        merge_floats(sums, others)
    else:
        merge_pairs(sums, others)


cdef void _write(const Term* t, int128 total, uint64_t* out) noexcept nogil:
    if t.out_kind == DECIMAL:
        out[t.out] = <uint64_t> (total >> 64) ^ SIGN
        out[t.out + 1] = <uint64_t> total
    elif t.out_kind == FLOAT:
        out[t.out] = encode_double(<float> total if t.narrow else <double> total)
    else:
        out[t.out] = <uint64_t> total ^ SIGN


# Rounds to a float32; False for a value beyond its range.
cdef inline bint _narrow(uint64_t* word) noexcept nogil:
    cdef double value = decode_double(word[0])
    word[0] = encode_double(<float> value)
    return isinf(value) or not isinf(<float> value)


cdef inline int128 _int128(uint64_t high, uint64_t low) noexcept nogil:
    return ((<int128> <int64_t> high) << 64) | <int128> low


# Adds value * diff.
cdef inline void _wide_add(uint64_t* sum, int128 value, int64_t diff) noexcept nogil:
    cdef int128 low = <int128> <uint64_t> value * diff
    cdef int128 carry = <int128> sum[2] + <int128> <uint64_t> low
    cdef int128 high = _int128(sum[0], sum[1]) + (value >> 64) * diff + (low >> 64) + (carry >> 64)
    sum[0] = <uint64_t> (high >> 64)
    sum[1] = <uint64_t> high
    sum[2] = <uint64_t> carry


cdef inline void _wide_merge(uint64_t* sum, const uint64_t* other) noexcept nogil:
    cdef int128 carry = <int128> sum[2] + <int128> other[2]
    cdef int128 high = _int128(sum[0], sum[1]) + _int128(other[0], other[1]) + (carry >> 64)
    sum[0] = <uint64_t> (high >> 64)
    sum[1] = <uint64_t> high
    sum[2] = <uint64_t> carry


# Writes the sum, or the average of `count` values, as the term's output; False where its type cannot hold it.
cdef bint _wide_value(const uint64_t* sum, const Term* t, int64_t count, int128* total) noexcept nogil:
    cdef int128 high = _int128(sum[0], sum[1]), rest, bound = t.bound
    cdef uint64_t low = sum[2]
    cdef bint negative = high < 0
    if negative:
        high = ~high + (1 if low == 0 else 0)
        low = ~low + 1
        bound += 1 if t.out_kind == SIGNED else 0
    if t.function != AVERAGE:
        if high >> 63 != 0:
            return False
        total[0] = (high << 64) + <int128> low
    elif high == 0:         # most often: a division of 128 bits takes much longer
        total[0] = low // <uint64_t> count
        rest = low % <uint64_t> count
    else:                   # long division, by parts of 64 bits
        rest = ((high % count) << 64) | <int128> low
        high = high / count
        if high >> 63 != 0:
            return False
        total[0] = (high << 64) + rest / count
        rest %= count
    if total[0] > (bound if t.more == 0 else t.limit):
        return False
    if t.function == AVERAGE:
        _append_digits(total, rest, count, _kept_digits(sum, t, count), t.more)
    else:
        total[0] *= power_of_ten(t.more)
    if total[0] > bound:
        return False
    if negative:
        total[0] = -total[0]
    return True


# The number of digits that an average has beyond the input's, as far as its type has place for them; negative
# if it has fewer.
cdef inline int _kept_digits(const uint64_t* sum, const Term* t, int64_t count) noexcept nogil:
    cdef int128 total
    if t.more == 0 or _int128(sum[0], sum[1]) >> 63 != <int128> (<int64_t> sum[0] >> 63):
        return t.more
    total = _int128(sum[1], sum[2])
    if total == 0:
        return 0
    return min(quotient_digits(total, t.scale, count, 0) - t.scale, t.more)


# Appends `kept` digits of rest / count, with half rounded up, away from zero, as PostgreSQL's numeric
# does, and zeros up to `more`.
cdef inline void _append_digits(
    int128* total, int128 rest, int64_t count, int kept, int more
) noexcept nogil:
    cdef int step, left = kept
    cdef int128 unit
    if kept < 0:
        unit = power_of_ten(-kept)
        total[0] = round_division(total[0], unit) * unit * power_of_ten(more)
        return
    while left > 0:
        step = min(left, DIGITS_AT_ONCE)
        unit = power_of_ten(step)
        total[0] = total[0] * unit + _divide(&rest, unit, count)
        left -= step
    if rest >= count - rest:
        total[0] += 1
    total[0] *= power_of_ten(more - kept)


# Divides: rest * unit / count, where `rest` is less than `count` and becomes the remainder.
cdef inline int128 _divide(int128* rest, int128 unit, int64_t count) noexcept nogil:
    cdef int128 dividend = rest[0] * unit
    cdef uint64_t low
    if dividend >> 64 == 0:     # most often: a division of 128 bits takes much longer
        low = <uint64_t> dividend
        rest[0] = low % <uint64_t> count
        return low // <uint64_t> count
    rest[0] = dividend % count
    return dividend / count
