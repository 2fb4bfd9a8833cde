// The search for a text in another, which GCC does not vectorise by itself.
#pragma once
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ivm {

// Where the `n` bytes at `what` first occur in [text, end), or NULL.
inline const char* find_bytes(const char* text, const char* end, const char* what, int64_t n) {
    if (n == 0) return text;
    const char* stop = end - n + 1;  // where no occurrence begins any more
    if (stop <= text) return nullptr;
#ifdef __SSE2__
    // Sixteen beginnings at once: those at which the first and the last byte agree are compared.
    const __m128i first = _mm_set1_epi8(what[0]), last = _mm_set1_epi8(what[n - 1]);
    const char* begin = text;
    while (stop - begin >= 16) {
        if (stop - text < 16) text = stop - 16;
        const __m128i a = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
        const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + n - 1));
        unsigned found = _mm_movemask_epi8(_mm_and_si128(_mm_cmpeq_epi8(a, first), _mm_cmpeq_epi8(b, last)));
        for (; found; found &= found - 1) {
            const char* at = text + __builtin_ctz(found);
            if (std::memcmp(at, what, n) == 0) return at;
        }
        text += 16;
        if (text >= stop) return nullptr;
    }
#endif
    for (; text < stop; ++text)
        if (*text == *what && std::memcmp(text, what, n) == 0) return text;
    return nullptr;
}

}  // namespace ivm
