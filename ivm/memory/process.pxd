# Returns the bytes of this process that lie in memory; 0 where the system does not tell.
cdef size_t resident_bytes() noexcept nogil
