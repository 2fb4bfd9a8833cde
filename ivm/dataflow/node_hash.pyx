"""A node computes its structural hash once, since it may be reached by exponentially many paths.

Nodes share inputs, so hashing by structure each time would walk every path of a dataflow. Compiled, since
a pool finds the arrangements that it maintains by their nodes.
"""

from dataclasses import fields
from functools import cache
from operator import attrgetter

cimport cython


@cache
def _compared(kind):
    """Make the getter of the fields by which a node compares."""
    return attrgetter(*[field.name for field in fields(kind) if field.compare])


@cython.auto_pickle(False)
cdef class Hashed:
    """A base of frozen dataclasses whose hash by structure is computed once.

    A subclass says `__hash__ = Hashed.__hash__`, or it would be given another one.
    """

    cdef bint known
    cdef Py_hash_t hash

    def __hash__(self):
        if not self.known:
            self.hash = hash((type(self), _compared(type(self))(self)))
            self.known = True
        return self.hash
