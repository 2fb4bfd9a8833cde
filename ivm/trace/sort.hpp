// What Cython cannot say: the bit-extract instruction, and std::sort with a comparison of rows.
#pragma once
#include <algorithm>
#include <cstdint>
#ifdef __BMI2__
#include <immintrin.h>
#endif

namespace ivm {

struct Entry {
    uint64_t prefix;  // the row's leading varying bits
    uint64_t index;   // where the row lies
};

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

inline void sort_by_prefix(Entry* entries, int64_t n) {
    std::sort(entries, entries + n, [](const Entry& a, const Entry& b) { return a.prefix < b.prefix; });
}

inline void sort_by_words(Entry* entries, int64_t n, const uint64_t* words, int stride, int from, int to) {
    std::sort(entries, entries + n, [=](const Entry& a, const Entry& b) {
        const uint64_t* x = words + a.index * stride;
        const uint64_t* y = words + b.index * stride;
        for (int w = from; w < to; ++w)
            if (x[w] != y[w]) return x[w] < y[w];
        return false;
    });
}

}  // namespace ivm
