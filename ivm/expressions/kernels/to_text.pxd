# Values as text, in PostgreSQL's forms. Each function writes to `out` (64 bytes do for any) and gives the
# number of bytes, without a closing zero.

from libc.stdint cimport int64_t

from ivm.rows.words cimport int128_t

cdef int format_decimal(int128_t value, int scale, char* out) noexcept nogil
cdef int format_date(int64_t days, char* out) noexcept nogil
cdef int format_time(int64_t micros, char* out) noexcept nogil
