"""List aggregates collect all values of a group in order: `list` and `set`."""

from libc.stdint cimport int64_t, uint64_t

from ivm.operators.aggregates.collect cimport Gathering
from ivm.rows.nested cimport Element, append_element, element_of


cdef class ArrayAgg(Gathering):
    """Collects values as a list of type `type`; with `distinct`, each value once."""

    cdef Element element

    def __init__(self, *gathered, type, bint distinct):
        super().__init__(*gathered)
        self.element = element_of(type.value_type)
        self.distinct = distinct
        self.all_values = True

    cdef int gather(self, const uint64_t* words, int64_t copies) noexcept nogil:
        self.members += copies
        return append_element(&self.bytes, words, self.element, copies, self.interner.strings)
