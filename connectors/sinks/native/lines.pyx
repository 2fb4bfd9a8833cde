"""Lines: cells written row by row, as bytes of Python, each or in blocks, or as a column of Arrow."""

from libc.stdint cimport int64_t
from libcpp.string cimport string
from libcpp.vector cimport vector

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.ref cimport PyObject

import pyarrow as pa

from connectors.sinks.native.cells cimport Cells

# Rows that are written before their bytes are copied, so that these stay in the processor's cache.
cdef Py_ssize_t ROWS = 4_096


def lines(cells, Py_ssize_t count):
    """The rows, each as bytes: its cells one after another.

    >>> from connectors.sinks.native.cells import Cells, constant
    >>> lines([constant(b"n="), Cells("integer", pa.array([7, None]), absent=b"?")], 2)
    [b'n=7', b'n=?']
    """
    cdef string text
    cdef vector[int64_t] ends
    cdef Py_ssize_t first, i
    cdef int64_t start
    found = []
    for first in range(0, count, ROWS):
        _write(cells, first, min(first + ROWS, count), &text, &ends)
        start = 0
        for i in range(<Py_ssize_t> ends.size()):
            found.append(PyBytes_FromStringAndSize(text.data() + start, ends[i] - start))
            start = ends[i]
    return found


def blocks(cells, Py_ssize_t count):
    """The rows one after another, as bytes of some thousands of them.

    >>> from connectors.sinks.native.cells import Cells, constant
    >>> blocks([Cells("integer", pa.array([7, 8])), constant(b";")], 2)
    [b'7;8;']
    """
    cdef string text
    cdef vector[int64_t] ends
    cdef Py_ssize_t first
    found = []
    for first in range(0, count, ROWS):
        _write(cells, first, min(first + ROWS, count), &text, &ends)
        found.append(PyBytes_FromStringAndSize(text.data(), text.size()))
    return found


def column(cells, Py_ssize_t count):
    """The rows as large binaries."""
    cdef string text
    cdef vector[int64_t] ends
    _write(cells, 0, count, &text, &ends)
    where = bytes(8) + PyBytes_FromStringAndSize(<char*> ends.data(), 8 * ends.size())
    data = PyBytes_FromStringAndSize(text.data(), text.size())
    buffers = [None, pa.py_buffer(where), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_binary(), count, buffers)


cdef int _write(
    cells, Py_ssize_t first, Py_ssize_t stop, string* text, vector[int64_t]* ends
) except -1:
    """Write the rows `[first, stop)`; each ends at a place in the text."""
    cdef vector[PyObject*] every
    cdef Cells one
    cdef Py_ssize_t row
    cdef size_t i
    for one in cells:
        every.push_back(<PyObject*> one)
    text.clear()
    ends.clear()
    ends.reserve(stop - first)
    for row in range(first, stop):
        for i in range(every.size()):
            (<Cells> every[i]).write(text, row)
        ends.push_back(<int64_t> text.size())
    return 0
