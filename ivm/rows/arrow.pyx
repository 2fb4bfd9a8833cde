"""Arrow export: hands a whole batch to Arrow by its C data interface, in one call.

No column and no buffer has a Python object of its own, which would be nearly all the cost of a few rows.
The importer owns an array; its release callback frees the memory.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc


cdef int start_batch(ArrowArray* batch, int64_t rows, int64_t columns) except -1:
    cdef int64_t c
    cdef ArrowArray* children = <ArrowArray*> calloc(max(columns, 1), sizeof(ArrowArray))
    batch.release = NULL
    batch.children = <ArrowArray**> calloc(max(columns, 1), sizeof(ArrowArray*))
    batch.buffers = <const void**> calloc(1, sizeof(void*))
    if children == NULL or batch.children == NULL or batch.buffers == NULL:
        free(children)
        free(batch.children)
        free(<void*> batch.buffers)
        raise MemoryError("no memory for a batch of rows")
    for c in range(columns):
        batch.children[c] = &children[c]
    batch.length = rows
    batch.null_count = batch.offset = 0
    batch.n_buffers = 1     # a struct's validity, which is left out
    batch.n_children = columns
    batch.dictionary = NULL
    batch.private_data = children
    batch.release = _release_batch
    return 0


cdef void _release_batch(ArrowArray* batch) noexcept nogil:
    cdef int64_t c
    for c in range(batch.n_children):
        if batch.children[c].release != NULL:   # else it was never made, or is somebody else's
            batch.children[c].release(batch.children[c])
    free(batch.private_data)
    free(batch.children)
    free(<void*> batch.buffers)
    batch.release = NULL


cdef int start_column(ArrowArray* column, int64_t rows, int64_t buffers) except -1:
    column.buffers = <const void**> calloc(buffers, sizeof(void*))
    if column.buffers == NULL:
        raise MemoryError("no memory for a column")
    column.length = rows
    column.null_count = column.offset = column.n_children = 0
    column.n_buffers = buffers
    column.children = NULL
    column.dictionary = NULL
    column.private_data = NULL
    column.release = _release_column
    return 0


cdef void _release_column(ArrowArray* column) noexcept nogil:
    cdef int64_t i
    for i in range(column.n_buffers):
        free(<void*> column.buffers[i])
    free(<void*> column.buffers)
    column.release = NULL


cdef void* add_buffer(ArrowArray* column, int64_t which, size_t bytes) noexcept nogil:
    cdef void* buffer = malloc(max(bytes, <size_t> 1))
    column.buffers[which] = buffer
    return buffer
