# Buffers give the pointer to a NumPy array's data. A typed memoryview would cost a tenth of a step of one row.

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer


# The first element of a contiguous array, which stays where it is as long as the array lives. Raises
# BufferError for one that is not contiguous.
cdef inline void* start_of(array) except? NULL:
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_SIMPLE)
    PyBuffer_Release(&view)
    return view.buf
