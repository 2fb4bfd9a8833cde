"""The layout of a schema's rows, for kernels: `ivm.rows.format` as C structs, with column kinds."""

from libc.stdlib cimport calloc, free

import pyarrow as pa

from ivm import types
from ivm.errors import Unsupported
from ivm.rows.format import row_format


def kind_of(type_):
    """The kind of a type's words (raises Unsupported)."""
    if pa.types.is_boolean(type_):
        return BOOL
    if pa.types.is_signed_integer(type_) or pa.types.is_date32(type_):
        return SIGNED
    if pa.types.is_unsigned_integer(type_):
        return UNSIGNED
    if pa.types.is_float32(type_) or pa.types.is_float64(type_):
        return FLOAT
    if type_ == pa.time64("us") or (pa.types.is_timestamp(type_) and type_.unit == "us"):
        return SIGNED
    if pa.types.is_decimal128(type_):
        return DECIMAL
    if pa.types.is_string(type_) or pa.types.is_binary(type_) or type_ in (types.JSON, types.INTERVAL):
        return STRING
    if type_ == types.UUID:
        return UNSIGNED
    if pa.types.is_list(type_):
        kind_of(type_.value_type)
        return STRING
    raise Unsupported(f"columns of type {type_}")


cdef class Layout:
    """Rows of `schema`; raises Unsupported for a type, or for too many columns."""

    def __cinit__(self, schema):
        kinds = [kind_of(field.type) for field in schema]
        form = row_format(schema)
        self.schema = schema
        self.words = form.words
        self.columns = len(kinds)
        self.has_mask = any(field.nullable for field in schema)
        self.slots = <Slot*> calloc(max(self.columns, 1), sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError
        for i, place in enumerate(form.places):
            self.slots[i].first = place.word
            self.slots[i].width = place.words
            self.slots[i].kind = kinds[i]
            self.slots[i].nullable = schema.field(i).nullable

    def __dealloc__(self):
        free(self.slots)
