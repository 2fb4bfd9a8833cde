// What Cython cannot say: the bit-extract instruction, and std::sort with a comparison of rows.
#pragma once
#include <algorithm>
#include <cstdint>
#ifdef __BMI2__
#include <immintrin.h>
#endif

namespace ivm {

inline uint64_t extract_bits(uint64_t word, uint64_t mask) {
#ifdef __BMI2__
    return _pext_u64(word, mask);
#else
    uint64_t out = 0;
    for (uint64_t bit = 1; mask; bit <<= 1) {
        if (word & mask & -mask) out |= bit;
        mask &= mask - 1;
    }
    return out;
#endif
}

// Entries hold a row's position in the bits of `position`.
inline void sort_by_words(uint64_t* entries, int64_t n, uint64_t position, const uint64_t* words, int stride,
                          int from, int to) {
    std::sort(entries, entries + n, [=](uint64_t a, uint64_t b) {
        const uint64_t* x = words + (a & position) * stride;
        const uint64_t* y = words + (b & position) * stride;
        for (int w = from; w < to; ++w)
            if (x[w] != y[w]) return x[w] < y[w];
        return false;
    });
}

}  // namespace ivm
