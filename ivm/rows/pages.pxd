# Large arrays ask for huge pages: a bulk load otherwise spends more on page faults than on sorting.

cdef extern from *:
    """
    #include <stdint.h>
    #include <sys/mman.h>
    static inline void ivm_want_huge_pages(void* words, size_t bytes) {
        if (bytes >= ((size_t) 4 << 20)) {
            uintptr_t start = ((uintptr_t) words + 4095) & ~(uintptr_t) 4095;
            madvise((void*) start, ((uintptr_t) words + bytes - start) & ~(size_t) 4095, MADV_HUGEPAGE);
        }
    }
    """
    # A hint, for `bytes` just allocated; without effect on small ones.
    void want_huge_pages "ivm_want_huge_pages"(void* words, size_t bytes) noexcept nogil
