"""The Python kernel calls a function for each row, and takes the GIL once for a vector.

The function gets and answers Python objects: booleans, integers, floats, Decimals, texts, bytes, UUIDs,
`ivm.values.types.Interval`s, lists of these, and a struct as the list of its fields; a document is its text.
Dates count days from 1970-01-01, timestamps microseconds from then, times of day microseconds from midnight.
Where it raises OverflowError, or answers what its type cannot hold, the row's error is that of an overflow;
where it raises anything else it is the step's message.
"""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport isinf
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memset

import decimal
import uuid

import numpy as np
import pyarrow as pa

from ivm.expressions.families import family, integer_range, precision_of, scale_of
from ivm.rows.format import words_of
from ivm.values.types import Interval

from ivm.rows cimport intervals
from ivm.rows.nested cimport (
    Bytes,
    Element,
    append_bytes,
    append_element,
    element_of,
    read_element,
    read_elements,
    release_bytes,
)
from ivm.rows.interner cimport NO_STRING, Strings, intern, view
from ivm.rows.updates cimport Updates, empty_updates, release
from ivm.expressions.kernels.vectors cimport (
    Frame,
    Instruction,
    Kernel,
    Register,
    fail,
    has_null,
    spread_errors,
    spread_nulls,
    start_strict,
    wanted,
)
from ivm.rows.words cimport decode_double, decode_signed, encode_double, encode_signed

cdef enum Kind:
    TRUTH
    SIGNED
    UNSIGNED
    FLOAT
    DECIMAL
    TEXT
    BINARY
    IDENTIFIER
    SPAN
    LIST
    STRUCT

_KINDS = {
    "bool": TRUTH, "signed": SIGNED, "date": SIGNED, "time": SIGNED, "timestamp": SIGNED,
    "unsigned": UNSIGNED, "float": FLOAT, "decimal": DECIMAL, "text": TEXT, "json": TEXT,
    "binary": BINARY, "uuid": IDENTIFIER, "interval": SPAN, "list": LIST,
    "struct": STRUCT,
}
_MOST_MICROS = (2**63 - 1) // 1000
_EXACT = decimal.Context(prec=400, rounding=decimal.ROUND_HALF_UP)


cdef class Objects:
    """Values of one type as Python objects and as words."""

    cdef Kind kind
    cdef int width
    cdef bint narrow        # a float32
    cdef object low         # of integers, and of decimals as stored
    cdef object high
    cdef object unit        # of decimals: their last digit
    cdef int scale
    cdef Objects element    # of lists
    cdef list fields        # of structs
    cdef Element form       # as an element of a list, or a field

    def __cinit__(self, type_):
        name = family(type_)
        self.kind = _KINDS[name]
        self.width = words_of(type_)
        self.form = element_of(type_)
        self.narrow = pa.types.is_float32(type_)
        if self.kind == SIGNED:
            bits = type_.bit_width
            self.low, self.high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        elif self.kind == UNSIGNED:
            self.low, self.high = 0, (1 << type_.bit_width) - 1
        elif self.kind == DECIMAL:
            self.scale = scale_of(type_)
            self.unit = decimal.Decimal(1).scaleb(-self.scale)
            self.high = 10 ** precision_of(type_) - 1
            self.low = -self.high
        elif self.kind == LIST:
            self.element = Objects(type_.value_type)
        elif self.kind == STRUCT:
            self.fields = [Objects(field.type) for field in type_]

    cdef object read(self, const uint64_t* words, Strings* strings):
        cdef char buffer[8]
        cdef const char* data
        cdef Py_ssize_t n
        cdef intervals.Interval span
        if self.kind == TRUTH:
            return words[0] != 0
        if self.kind == SIGNED:
            return decode_signed(words[0])
        if self.kind == UNSIGNED:
            return words[0]
        if self.kind == FLOAT:
            return decode_double(words[0])
        if self.kind == DECIMAL:
            whole = whole_of(decode_signed(words[0]), words[1])
            return decimal.Decimal(whole).scaleb(-self.scale, _EXACT)
        if self.kind == IDENTIFIER:
            return uuid.UUID(int=whole_of(words[0], words[1]))
        data = view(strings, words[0], buffer, &n)
        if self.kind == TEXT:
            return PyUnicode_DecodeUTF8(data, n, b"replace")
        if self.kind == BINARY:
            return data[:n]
        if self.kind == SPAN:
            span = intervals.unpack_interval(data, n)
            return Interval(span.months, span.days, span.micros)
        if self.kind == STRUCT:
            return self._read_struct(data, strings)
        return self._read_list(data, n, strings)

    cdef list _read_list(self, const char* data, Py_ssize_t n, Strings* strings):
        cdef Updates rows = empty_updates(self.element.width + 1, 0)
        cdef const uint64_t* row
        cdef Py_ssize_t i
        values = []
        try:
            if read_elements(data, n, self.element.form, strings, &rows) < 0:
                raise MemoryError
            for i in range(rows.length):
                row = rows.words + i * rows.stride
                values.append(None if row[0] else self.element.read(row + 1, strings))
        finally:
            release(&rows)
        return values

    cdef list _read_struct(self, const char* data, Strings* strings):
        cdef uint64_t words[2]
        cdef uint64_t is_null
        cdef Objects field
        values = []
        for field in self.fields:
            is_null = 0
            data = read_element(data, field.form, strings, &is_null, 0, words)
            if data == NULL:
                raise MemoryError
            values.append(None if is_null else field.read(words, strings))
        return values

    cdef int write(self, object value, uint64_t* words, Strings* strings) except -1:
        """The words of a value that is not None; OverflowError where there are none."""
        cdef double number
        if self.kind == TRUTH:
            words[0] = bool(value)
        elif self.kind == SIGNED or self.kind == UNSIGNED:
            if not self.low <= value <= self.high:
                raise OverflowError
            words[0] = encode_signed(value) if self.kind == SIGNED else <uint64_t> value
        elif self.kind == FLOAT:
            number = <float> <double> value if self.narrow else value
            if isinf(number) != isinf(<double> value) or (number == 0) != (value == 0):
                raise OverflowError
            words[0] = encode_double(number)
        elif self.kind == DECIMAL:
            self._write_decimal(value, words)
        elif self.kind == IDENTIFIER:
            whole = value.int
            words[0] = whole >> 64
            words[1] = whole & 0xFFFFFFFFFFFFFFFF
        elif self.kind == TEXT:
            words[0] = keep(value.encode(), strings)
        elif self.kind == BINARY:
            words[0] = keep(value, strings)
        elif self.kind == SPAN:
            words[0] = keep(interval_bytes(value), strings)
        else:
            words[0] = self._write_nested(value, strings)
        return 0

    cdef int _write_decimal(self, object value, uint64_t* words) except -1:
        if not value.is_finite() or (value and value.adjusted() > 40):
            raise OverflowError
        rounded = value.quantize(self.unit, context=_EXACT)
        whole = int(rounded.scaleb(self.scale, _EXACT))
        if not self.low <= whole <= self.high:
            raise OverflowError
        words[0] = encode_signed(whole >> 64)
        words[1] = whole & 0xFFFFFFFFFFFFFFFF
        return 0

    cdef uint64_t _write_nested(self, object values, Strings* strings) except? 0:
        cdef uint64_t words[2]
        cdef const uint64_t* given
        cdef Objects part = self.element
        cdef Bytes content
        cdef uint64_t word
        memset(&content, 0, sizeof(Bytes))
        try:
            for i, value in enumerate(values):
                given = NULL
                if self.kind == STRUCT:
                    part = self.fields[i]
                if value is not None:
                    part.write(value, words, strings)
                    given = words
                if append_element(&content, given, part.form, 1, strings) < 0:
                    raise MemoryError
            word = intern(strings, content.data, content.length)
            if word == NO_STRING:
                raise MemoryError
            return word
        finally:
            release_bytes(&content)


cdef object whole_of(object high, object low):
    """The integer of two words."""
    return (high << 64) | low


cdef uint64_t keep(bytes data, Strings* strings) except? 0:
    cdef uint64_t word = intern(strings, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    if word == NO_STRING:
        raise MemoryError
    return word


cdef bytes interval_bytes(value):
    """Raises OverflowError beyond 32 bits of months or days, or 292 years of microseconds."""
    cdef char out[24]
    cdef intervals.Interval span
    if not -_MOST_MICROS <= value.micros <= _MOST_MICROS:
        raise OverflowError
    span.months = value.months
    span.days = value.days
    span.micros = value.micros
    intervals.pack_interval(span, out)
    return out[:intervals.INTERVAL_BYTES]


cdef class Search:
    """A condition on texts that `function` decides for a vector at once: of Arrow's arrays."""

    cdef readonly object function

    def __cinit__(self, function):
        self.function = function

    cdef int run(self, Frame* f, const Instruction* it) except -1:
        cdef int32_t[::1] ends = np.zeros(f.n + 1, np.int32)
        cdef const uint8_t[::1] found
        cdef char buffer[8]
        cdef const char* data
        cdef Bytes content
        cdef Py_ssize_t i, n
        memset(&content, 0, sizeof(Bytes))
        try:
            for i in range(f.n):
                data = view(f.strings, it.a.words[i], buffer, &n)
                if append_bytes(&content, data, n) < 0:
                    raise MemoryError
                if content.length > 0x7FFFFFFF:
                    raise MemoryError("2 GiB of texts in one vector")
                ends[i + 1] = content.length
            texts = pa.py_buffer(content.data[:content.length])
        finally:
            release_bytes(&content)
        answer = self.function(pa.StringArray.from_buffers(f.n, pa.py_buffer(ends), texts))
        found = answer.to_numpy(zero_copy_only=False).view(np.uint8)
        for i in range(f.n):
            it.out.words[i] = found[i]
        return 0


cdef void search(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is the address of a Search."""
    start_strict(f, it)
    with gil:
        try:
            (<Search> <void*> it.p).run(f, it)
        except Exception:
            f.out_of_memory = True


cdef class Routine:
    """A Python function of any number of values; `strict`: it is not called where one is NULL."""

    cdef readonly object function
    cdef bint strict
    cdef list arguments     # an Objects for each
    cdef Objects out

    def __cinit__(self, function, arguments, result, bint strict):
        self.function = function
        self.strict = strict
        self.arguments = [Objects(type_) for type_ in arguments]
        self.out = Objects(result)

    cdef object _argument(self, Objects objects, const Register* given, Py_ssize_t i, Strings* strings):
        if has_null(given, i):
            return None
        return objects.read(given.words + i * given.width, strings)

    cdef object _answer(self, const Instruction* it, Py_ssize_t i, Strings* strings):
        cdef Py_ssize_t k
        given = []
        for k in range(it.count):
            given.append(self._argument(<Objects> self.arguments[k], it.given[k], i, strings))
        return self.function(*given)

    cdef int _call(self, Frame* f, const Instruction* it, Py_ssize_t i) except -1:
        answer = self._answer(it, i, f.strings)
        if answer is None:
            it.out.nulls[i] = 1
        else:
            self.out.write(answer, it.out.words + i * it.out.width, f.strings)
        return 0

    cdef void run(self, Frame* f, const Instruction* it) noexcept:
        cdef Py_ssize_t i
        for i in range(f.n):
            memset(it.out.words + i * it.out.width, 0, it.out.width * sizeof(uint64_t))
            if not wanted(it.out, i):
                continue
            try:
                self._call(f, it, i)
            except MemoryError:
                f.out_of_memory = True
                return
            except OverflowError:
                fail(it, i, it.overflow)
            except Exception:
                fail(it, i, it.message)


cdef void scripted(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is the address of a Routine."""
    cdef int k
    if it.out.nulls != NULL:
        memset(it.out.nulls, 0, f.n)
    memset(it.out.errors, 0, f.n * sizeof(uint32_t))
    for k in range(it.count):
        if (<Routine> <void*> it.p).strict and it.out.nulls != NULL:
            spread_nulls(f, it.out, it.given[k])
        spread_errors(f, it.out, it.given[k])
    with gil:
        (<Routine> <void*> it.p).run(f, it)


KERNELS = {
    "scripted": <uintptr_t> <Kernel> scripted,
    "search": <uintptr_t> <Kernel> search,
}
