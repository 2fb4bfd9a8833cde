"""Contents: the bytes of records, or none, wherever they are."""

from libc.stdint cimport int32_t, uint8_t, uintptr_t

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE

import pyarrow as pa


cdef class Contents:
    """Contents are the bytes of records, or none: of a sequence, or of an Arrow array's buffers."""

    def __init__(self, contents):
        self.held = contents
        array = getattr(contents, "array", None)
        if array is not None and array.type == pa.binary():
            valid, ends, data = array.buffers()
            self.held = array
            self.offset = array.offset
            self.valid = <const uint8_t*> <uintptr_t> (valid.address if valid is not None else 0)
            self.ends = <const int32_t*> <uintptr_t> ends.address
            self.data = <const char*> <uintptr_t> (data.address if data is not None else 0)
        elif array is not None:
            self.held = list(contents)

    cdef bint find(self, Py_ssize_t i, const char** start, const char** stop) except -1:
        """Find the bytes of record `i`, good until the next are asked for; False if it has none."""
        if self.ends == NULL:
            self.last = self.held[i]
            if self.last is None:
                return False
            start[0] = PyBytes_AS_STRING(self.last)
            stop[0] = start[0] + PyBytes_GET_SIZE(self.last)
            return True
        i += self.offset
        if self.valid != NULL and not self.valid[i >> 3] >> (i & 7) & 1:
            return False
        start[0] = self.data + self.ends[i]
        stop[0] = self.data + self.ends[i + 1]
        return True
