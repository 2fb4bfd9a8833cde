# Text as values: PostgreSQL's usual forms, with spaces around them. Each function says whether the text
# is such a value.

from ivm.rows.words cimport int128_t

# Rounded half away from zero to `scale` digits; False also beyond `precision` digits.
cdef bint parse_decimal(
    const char* data, Py_ssize_t n, int precision, int scale, int128_t* value
) noexcept nogil

# False also where a double cannot hold it.
cdef bint parse_float(const char* data, Py_ssize_t n, double* value) noexcept nogil

# True if the float32 nearest to a double is infinite or zero, and the double is not.
cdef bint leaves_single(double value) noexcept nogil
