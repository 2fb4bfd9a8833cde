"""Cells: columns of Arrow, and what does not change from row to row, as they are written.

A form says how a value is written. What a column holds must be what its form takes: integers of
any width, large binaries, and so on, which `connectors.sinks.json_cells` and
`connectors.sinks.avro_columns` see to.
"""

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdint cimport uintptr_t
from libcpp.string cimport string

import pyarrow as pa

from connectors.sinks.native.digits cimport clock, date, decimal, integer, moment, natural, varint

FORMS = {
    "constant": CONSTANT,
    "verbatim": VERBATIM,
    "sign": SIGN,
    "integer": INTEGER,
    "natural": NATURAL,
    "truth": TRUTH,
    "text": TEXT,
    "decimal": DECIMAL,
    "date": DATE,
    "time": TIME,
    "naive": NAIVE,
    "zoned": ZONED,
    "varint": VARINT,
    "varbytes": VARBYTES,
    "fixed": FIXED,
    "bit": BIT,
    "wide": WIDE,
}
cdef const char* HEX = "0123456789abcdef"


cdef class Cells:
    """The cells of one column, or one that stands in every row, in a form of `FORMS`.

    `before` is written before each value, and `absent` in place of NULL; if that is None, whatever
    stands there.
    """

    def __init__(self, form, column=None, *, constant=b"", before=b"", absent=None):
        self.form = FORMS[form]
        self.constant, self.before, self.absent = constant, before, absent or b""
        if column is None:
            return
        self.held, self.offset, self.length = column, column.offset, len(column)
        dtype = column.type
        valid, *rest = column.buffers()
        if column.null_count and absent is not None:
            self.valid = <const uint8_t*> <uintptr_t> valid.address
        if pa.types.is_large_binary(dtype) or pa.types.is_large_string(dtype):
            self.wide_ends = <const int64_t*> _start(rest[0])
        elif pa.types.is_binary(dtype) or pa.types.is_string(dtype):
            self.ends = <const int32_t*> _start(rest[0])
        elif not pa.types.is_boolean(dtype):
            self.width = dtype.bit_width // 8
        if pa.types.is_unsigned_integer(dtype) and self.width < 8:
            self.width = -self.width
        if pa.types.is_decimal(dtype):
            self.scale = dtype.scale
        self.data = <const char*> _start(rest[len(rest) - 1])

    def __len__(self):
        return self.length

    cdef int write(self, string* into, Py_ssize_t row) except -1 nogil:
        """Write the cell of a row."""
        if self.form == CONSTANT:
            into.append(self.constant)
            return 0
        row += self.offset
        if self.valid != NULL and not self.valid[row >> 3] >> (row & 7) & 1:
            into.append(self.absent)
            return 0
        into.append(self.before)
        if self.form == INTEGER:
            integer(into, _integer(self, row))
        elif self.form == TEXT:
            _text(self, into, row)
        elif self.form == VERBATIM:
            into.append(self.data + _end(self, row), _end(self, row + 1) - _end(self, row))
        elif self.form == DECIMAL:
            into.push_back(c'"')
            decimal(into, self.data + 16 * row, self.scale)
            into.push_back(c'"')
        elif self.form == NATURAL:
            natural(into, (<const uint64_t*> self.data)[row])
        elif self.form == SIGN:
            into.push_back(c"+" if _integer(self, row) > 0 else c"-")
        elif self.form == TRUTH:
            if _bit(self, row):
                into.append(b"true", 4)
            else:
                into.append(b"false", 5)
        elif self.form == DATE or self.form == TIME or self.form == NAIVE or self.form == ZONED:
            _calendar(self, into, row)
        elif self.form == VARINT:
            varint(into, _integer(self, row))
        elif self.form == VARBYTES:
            varint(into, _end(self, row + 1) - _end(self, row))
            into.append(self.data + _end(self, row), _end(self, row + 1) - _end(self, row))
        elif self.form == FIXED:
            into.append(self.data + self.width * row, self.width)
        elif self.form == BIT:
            into.push_back(_bit(self, row))
        else:
            _wide(self, into, row)
        return 0


cdef int64_t _integer(Cells cells, Py_ssize_t row) noexcept nogil:
    """An integer; of a negative width, one without a sign."""
    if cells.width == 8:
        return (<const int64_t*> cells.data)[row]
    if cells.width == 4:
        return (<const int32_t*> cells.data)[row]
    if cells.width == 2:
        return (<const int16_t*> cells.data)[row]
    if cells.width == 1:
        return (<const int8_t*> cells.data)[row]
    if cells.width == -4:
        return (<const uint32_t*> cells.data)[row]
    if cells.width == -2:
        return (<const uint16_t*> cells.data)[row]
    return (<const uint8_t*> cells.data)[row]


cdef bint _bit(Cells cells, Py_ssize_t row) noexcept nogil:
    return cells.data[row >> 3] >> (row & 7) & 1


cdef int64_t _end(Cells cells, Py_ssize_t row) noexcept nogil:
    return cells.ends[row] if cells.ends != NULL else cells.wide_ends[row]


cdef int _calendar(Cells cells, string* into, Py_ssize_t row) except -1 nogil:
    into.push_back(c'"')
    if cells.form == DATE:
        date(into, _integer(cells, row))
    elif cells.form == TIME:
        clock(into, _integer(cells, row))
    else:
        moment(into, _integer(cells, row))
    if cells.form == ZONED:
        into.push_back(c"Z")
    into.push_back(c'"')
    return 0


cdef int _wide(Cells cells, string* into, Py_ssize_t row) except -1 nogil:
    cdef int i
    varint(into, 16)
    for i in range(15, -1, -1):
        into.push_back(cells.data[16 * row + i])
    return 0


cdef int _text(Cells cells, string* into, Py_ssize_t row) except -1 nogil:
    """A JSON string; of what has to be escaped, the short forms where there are any."""
    cdef const char* at = cells.data + _end(cells, row)
    cdef const char* stop = cells.data + _end(cells, row + 1)
    cdef const char* clean = at
    cdef char letter
    into.push_back(c'"')
    while at < stop:
        if <uint8_t> at[0] >= 0x20 and at[0] != c'"' and at[0] != c"\\":
            at += 1
            continue
        into.append(clean, at - clean)
        into.push_back(c"\\")
        letter = _short(at[0])
        if letter:
            into.push_back(letter)
        else:
            into.append(b"u00", 3)
            into.push_back(HEX[at[0] >> 4])
            into.push_back(HEX[at[0] & 15])
        at += 1
        clean = at
    into.append(clean, at - clean)
    into.push_back(c'"')
    return 0


cdef inline char _short(char which) noexcept nogil:
    """The letter of an escape; 0 where it has none."""
    if which == c'"' or which == c"\\":
        return which
    if which == c"\n":
        return c"n"
    if which == c"\t":
        return c"t"
    if which == c"\r":
        return c"r"
    if which == c"\b":
        return c"b"
    return c"f" if which == c"\f" else 0


cdef uintptr_t _start(buffer) except? 0:
    return buffer.address if buffer is not None else 0


def constant(content):
    """Cells that are the same in every row."""
    return Cells("constant", constant=content)
