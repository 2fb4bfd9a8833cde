"""A layout holds the format of a schema's rows as C structs for kernels, with the kind of each column."""

from functools import lru_cache

from libc.stdlib cimport calloc, free

import pyarrow as pa

from ivm.values import types
from ivm.errors import Unsupported
from ivm.rows.format import is_interned, row_format


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
    if pa.types.is_struct(type_) and type_.num_fields > 0:
        for f in type_:
            kind_of(f.type)
        row_format([pa.field("", f.type) for f in type_])   # refuses too many
        return STRING
    raise Unsupported(f"columns of type {type_}")


def storage_of(type_):
    """Give the physical type of a supported column in Arrow."""
    if pa.types.is_boolean(type_):
        return BITS
    if pa.types.is_decimal(type_):
        return INT128
    if type_ == types.UUID:
        return UINT128
    if is_interned(type_):
        return BYTES
    if pa.types.is_float32(type_):
        return FLOAT32
    if pa.types.is_float64(type_):
        return FLOAT64
    if pa.types.is_unsigned_integer(type_):
        return {8: UINT8, 16: UINT16, 32: UINT32, 64: UINT64}[type_.bit_width]
    return {8: INT8, 16: INT16, 32: INT32, 64: INT64}[type_.bit_width]


@lru_cache
def _traits(type_):
    """The kind and the storage of a type, and whether its arrays are read as they are."""
    nested = pa.types.is_list(type_) or pa.types.is_struct(type_)
    direct = not nested and type_ != types.INTERVAL
    return kind_of(type_), storage_of(type_), direct


cdef class Layout:
    """Rows of `schema`, in `form` if they have another format with NULL bits than that of a row.

    Raises Unsupported for a type, or for too many columns.
    """

    def __cinit__(self, schema, form=None):
        cdef Slot* slot
        fields = list(schema)
        traits = [_traits(field.type) for field in fields]
        masks = set()
        form = form or row_format(fields)
        self.schema = schema
        self.words = form.words
        self.columns = len(fields)
        self.masks = len({place.null_word for place in form.places if place.null_word >= 0})
        self.types = [field.type for field in fields]
        self.direct = all([direct for _, _, direct in traits])
        self.slots = <Slot*> calloc(max(self.columns, 1), sizeof(Slot))
        if self.slots == NULL:
            raise MemoryError
        for i, place in enumerate(form.places):
            slot = &self.slots[i]
            slot.first = place.word
            slot.width = place.words
            slot.kind, slot.storage, slot.direct = traits[i]
            slot.nullable = fields[i].nullable
            slot.null_word = max(place.null_word, 0)
            slot.null_bit = max(place.null_bit, 0)
            slot.opens = place.null_word >= 0 and place.null_word not in masks
            masks.add(place.null_word)

    def __dealloc__(self):
        free(self.slots)
