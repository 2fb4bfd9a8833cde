"""Nodes hash and compare by structure, whatever the number of paths by which a node is reached.

Nodes share inputs, so that walking every path of a dataflow takes time exponential in its depth. A
node computes its hash once; two are compared pair by pair, each pair once, and without recursion.
Compiled, since a pool finds the arrangements that it maintains by their nodes.
"""

from dataclasses import fields
from functools import cache, wraps
from operator import attrgetter

cimport cython


@cache
def _compared(kind):
    """Make the getter of the fields by which a node compares."""
    return attrgetter(*[field.name for field in fields(kind) if field.compare])


@cython.auto_pickle(False)
cdef class Hashed:
    """A base of frozen dataclasses, made with `eq=False`, that hash and compare by structure."""

    cdef bint known
    cdef Py_hash_t hash
    cdef dict answers  # by the functions that were asked, or None

    def __hash__(self):
        if not self.known:
            self.hash = hash((type(self), _compared(type(self))(self)))
            self.known = True
        return self.hash

    def __eq__(self, other):
        return isinstance(other, Hashed) and _same(self, other)


cdef bint _same(object one, object other) except -1:
    """Tell whether two nodes, or parts of nodes, are equal.

    A pair that was met before is not compared again: if it differs, that is found where it was met.
    """
    cdef list waiting = [(one, other)]
    cdef set met = set()
    while waiting:
        one, other = waiting.pop()
        if one is other:
            continue
        if isinstance(one, Hashed):
            if type(one) is not type(other) or hash(one) != hash(other):
                return False
            pair = id(one), id(other)
            if pair not in met:
                met.add(pair)
                compared = _compared(type(one))
                waiting.append((compared(one), compared(other)))
        elif type(one) is tuple and type(other) is tuple:
            if len(one) != len(other):
                return False
            waiting.extend(zip(one, other))
        elif one != other:
            return False
    return True


def remembered(ask):
    """Make `ask`, whose answer depends on a node alone, be asked once of each node.

    >>> from ivm.dataflow.nodes import Distinct, Get
    >>> inputs = remembered(lambda node: [node.input])
    >>> node = Distinct(Get("orders", None))
    >>> inputs(node) is inputs(node)
    True
    """

    @wraps(ask)
    def answer(Hashed node):
        if node.answers is None:
            node.answers = {}
        if ask not in node.answers:
            node.answers[ask] = ask(node)
        return node.answers[ask]

    return answer
