# A layout maps each column to its words in a row.

# The encoding of a column's values in words. Words of every kind but STRING compare as unsigned
# integers, two words in turn; see `ivm.rows.interner` for STRING.
cdef enum Kind:
    BOOL      # 0 or 1
    SIGNED    # integers, dates, times and timestamps: sign-extended, sign bit flipped
    UNSIGNED  # as is; the 16 bytes of a UUID big-endian, in two words
    FLOAT     # float64, float32 widened: one NaN, greatest; one zero
    DECIMAL   # two words: high with its sign bit flipped, then low
    STRING    # utf8, binary and JSON; lists and structs as in `ivm.rows.nested`, intervals as in `ivm.rows.intervals`


# The physical type of a column in Arrow.
cdef enum Storage:
    BITS
    INT8
    INT16
    INT32
    INT64
    UINT8
    UINT16
    UINT32
    UINT64
    FLOAT32
    FLOAT64
    INT128
    UINT128    # 16 bytes, big-endian
    BYTES


cdef struct Slot:
    int first      # index of the column's first word in the row
    int width      # words: 2 for DECIMAL and UUIDs, else 1
    Kind kind
    Storage storage
    bint nullable
    int null_word  # where it is nullable: the word of its NULL bit
    int null_bit
    bint opens     # the first column that has its NULL bit there
    bint direct    # Arrow's array is read as it is


cdef class Layout:
    cdef readonly object schema  # pa.Schema
    cdef readonly int words      # words of a row
    cdef readonly int columns
    cdef readonly int masks      # words of NULL bits, with which a row begins
    cdef readonly bint direct    # Arrow's arrays of all columns are read as they are
    cdef list types              # of the columns
    cdef Slot* slots             # one for each column
