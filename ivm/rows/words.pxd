# Word codecs: one value to order-preserving words and back; see `Kind` in layout.pxd.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    typedef __int128 ivm_int128;
    #define IVM_SIGN 0x8000000000000000ull
    """
    # Cython sees a 64-bit type; the C++ compiler a 128-bit one. Never convert it to a Python object.
    ctypedef long long int128_t "ivm_int128"
    const uint64_t SIGN "IVM_SIGN"


cdef inline uint64_t encode_signed(int64_t value) noexcept nogil:
    return <uint64_t> value ^ SIGN


cdef inline int64_t decode_signed(uint64_t word) noexcept nogil:
    return <int64_t> (word ^ SIGN)


cdef inline uint64_t encode_double(double value) noexcept nogil:
    cdef uint64_t bits
    value += 0.0  # makes -0.0 the one zero
    memcpy(&bits, &value, 8)
    bits ^= <uint64_t> (<int64_t> bits >> 63) | SIGN
    return bits if value == value else 0xFFF8000000000000u


cdef inline double decode_double(uint64_t word) noexcept nogil:
    cdef uint64_t bits = word ^ (<uint64_t> (<int64_t> ~word >> 63) | SIGN)
    cdef double value
    memcpy(&value, &bits, 8)
    return value


cdef inline void encode_decimal(int128_t value, uint64_t* words) noexcept nogil:
    words[0] = <uint64_t> (value >> 64) ^ SIGN
    words[1] = <uint64_t> value


cdef inline int128_t decode_decimal(const uint64_t* words) noexcept nogil:
    return (<int128_t> <int64_t> (words[0] ^ SIGN) << 64) | <int128_t> words[1]
