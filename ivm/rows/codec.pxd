# The codec encodes Arrow batches as updates and decodes them.

from libc.stdint cimport int64_t, uint64_t

from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates

# Appends one update (depth 1) for each row of the RecordBatch `batch`. `times` has one u64 for each
# row, or is NULL for `time` at all; `diffs` likewise with `diff`. Raises SchemaMismatch, MemoryError.
cdef int encode(
    object batch, Layout layout, Interner interner, const uint64_t* times, uint64_t time,
    const int64_t* diffs, int64_t diff, Updates* out
) except -1

# The same, each row to one of `count` queues. Where it raises, these may have grown.
cdef int encode_to_queues(
    object batch, Layout layout, Interner interner, const uint64_t* times, uint64_t time,
    const int64_t* diffs, int64_t diff, Updates** queues, int count
) except -1

# The rows at words[0], words[stride], ... (n of them) as a RecordBatch.
cdef object decode(
    const uint64_t* words, Py_ssize_t n, Py_ssize_t stride, Layout layout, Interner interner
)

# Writes the `layout.words` words of one row of Python values. Raises SchemaMismatch.
cdef int encode_key(object values, Layout layout, Interner interner, uint64_t* out) except -1
