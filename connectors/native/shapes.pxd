"""Shapes of columns, as Python describes them."""

from connectors.native.columns cimport Shape


cdef Shape shape_of(dict parts) except *
