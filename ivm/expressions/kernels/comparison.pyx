"""Comparison kernels compare values, combine truth values (three-valued logic) and choose among arguments.

`p` of a comparison is a truth mask over the order of its arguments: bit 0 below, 1 equal, 2 above.
"""

from libc.stdint cimport int64_t, uint64_t, uintptr_t

from ivm.rows.interner cimport Strings, compare
from ivm.expressions.kernels.vectors cimport (
    Frame,
    Instruction,
    Kernel,
    Register,
    has_error,
    has_null,
    start_strict,
    take,
    wanted,
)


cdef void eq_word(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = it.a.words[i] == it.b.words[i]


cdef void ne_word(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = it.a.words[i] != it.b.words[i]


cdef void lt_word(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = it.a.words[i] < it.b.words[i]


cdef void le_word(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = it.a.words[i] <= it.b.words[i]


cdef inline int order_decimals(const uint64_t* a, const uint64_t* b) noexcept nogil:
    if a[0] != b[0]:
        return -1 if a[0] < b[0] else 1
    if a[1] != b[1]:
        return -1 if a[1] < b[1] else 1
    return 0


cdef inline int order_strings(const Strings* strings, uint64_t a, uint64_t b) noexcept nogil:
    cdef int order = compare(strings, a, b)
    return (order > 0) - (order < 0)


cdef void compare_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = (it.p >> (order_decimals(it.a.words + 2 * i, it.b.words + 2 * i) + 1)) & 1


cdef void compare_string(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = (it.p >> (order_strings(f.strings, it.a.words[i], it.b.words[i]) + 1)) & 1


cdef inline bint same_words(const Register* a, const Register* b, Py_ssize_t i) noexcept nogil:
    cdef int w
    for w in range(a.width):
        if a.words[i * a.width + w] != b.words[i * a.width + w]:
            return False
    return True


cdef void distinct(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is what equal arguments give: 0 for is_distinct, 1 for is_not_distinct."""
    cdef Py_ssize_t i
    cdef bint a_null, b_null, same
    for i in range(f.n):
        a_null = has_null(it.a, i)
        b_null = has_null(it.b, i)
        same = a_null == b_null and (a_null or same_words(it.a, it.b, i))
        it.out.words[i] = same == it.p
        if it.out.errors != NULL:
            it.out.errors[i] = it.a.errors[i] if has_error(it.a, i) else 0
            if has_error(it.b, i) and it.out.errors[i] == 0:
                it.out.errors[i] = it.b.errors[i]


cdef void null_test(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is what NULL gives: 1 for is_null, 0 for is_not_null."""
    cdef Py_ssize_t i
    for i in range(f.n):
        it.out.words[i] = has_null(it.a, i) == it.p
        if it.out.errors != NULL:
            it.out.errors[i] = it.a.errors[i]


cdef void decide(Frame* f, const Instruction* it) noexcept nogil:
    """`and` and `or`: `p`, where either argument is it; else an error; else NULL; else not `p`."""
    cdef Py_ssize_t i
    cdef bint a_sure, b_sure
    for i in range(f.n):
        a_sure = wanted(it.a, i)
        b_sure = wanted(it.b, i)
        if a_sure and <int64_t> it.a.words[i] == it.p:
            take(it.out, it.a, i)
        elif b_sure and <int64_t> it.b.words[i] == it.p:
            take(it.out, it.b, i)
        elif has_error(it.a, i):
            take(it.out, it.a, i)
        elif has_error(it.b, i):
            take(it.out, it.b, i)
        elif not a_sure:
            take(it.out, it.a, i)
        else:
            take(it.out, it.b, i)


cdef void and_nulls(Frame* f, const Instruction* it) noexcept nogil:
    """`and` of arguments that are not errors, without branches: a NULL counts as true at first."""
    cdef uint64_t result
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        result = (it.a.words[i] | has_null(it.a, i)) & (it.b.words[i] | has_null(it.b, i)) & 1
        it.out.words[i] = result
        it.out.nulls[i] &= result


cdef void or_nulls(Frame* f, const Instruction* it) noexcept nogil:
    """`or` of arguments that are not errors, without branches: a NULL counts as false at first."""
    cdef uint64_t result
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        result = (it.a.words[i] & (not has_null(it.a, i))) | (it.b.words[i] & (not has_null(it.b, i)))
        it.out.words[i] = result & 1
        it.out.nulls[i] &= result ^ 1


cdef void and_plain(Frame* f, const Instruction* it) noexcept nogil:
    """`and` of arguments that are neither NULL nor errors."""
    cdef Py_ssize_t i
    for i in range(f.n):
        it.out.words[i] = it.a.words[i] & it.b.words[i]


cdef void or_plain(Frame* f, const Instruction* it) noexcept nogil:
    """`or` of arguments that are neither NULL nor errors."""
    cdef Py_ssize_t i
    for i in range(f.n):
        it.out.words[i] = it.a.words[i] | it.b.words[i]


cdef void negation(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = it.a.words[i] ^ 1


cdef void choose(Frame* f, const Instruction* it) noexcept nogil:
    """`b` where `a` is true, else `c`; an error where `a` is one."""
    cdef Py_ssize_t i
    for i in range(f.n):
        if has_error(it.a, i):
            take(it.out, it.c, i)
            it.out.errors[i] = it.a.errors[i]
        elif it.a.words[i] == 1 and not has_null(it.a, i):
            take(it.out, it.b, i)
        else:
            take(it.out, it.c, i)


cdef void coalesce(Frame* f, const Instruction* it) noexcept nogil:
    """`a` where it is not NULL, else `b`."""
    cdef Py_ssize_t i
    for i in range(f.n):
        if has_null(it.a, i) and not has_error(it.a, i):
            take(it.out, it.b, i)
        else:
            take(it.out, it.a, i)


cdef inline void extreme(
    Frame* f, const Instruction* it, Py_ssize_t i, int order
) noexcept nogil:
    """Takes the argument that lies on side `p` (1: greatest, -1: least) given their order."""
    if has_error(it.a, i):
        take(it.out, it.a, i)
    elif has_error(it.b, i) or has_null(it.a, i):
        take(it.out, it.b, i)
    elif has_null(it.b, i) or order == it.p or order == 0:
        take(it.out, it.a, i)
    else:
        take(it.out, it.b, i)


cdef void extreme_word(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(f.n):
        extreme(f, it, i, (it.a.words[i] > it.b.words[i]) - (it.a.words[i] < it.b.words[i]))


cdef void extreme_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(f.n):
        extreme(f, it, i, order_decimals(it.a.words + 2 * i, it.b.words + 2 * i))


cdef void extreme_string(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(f.n):
        extreme(f, it, i, order_strings(f.strings, it.a.words[i], it.b.words[i]))


KERNELS = {
    "eq_word": <uintptr_t> <Kernel> eq_word,
    "ne_word": <uintptr_t> <Kernel> ne_word,
    "lt_word": <uintptr_t> <Kernel> lt_word,
    "le_word": <uintptr_t> <Kernel> le_word,
    "compare_decimal": <uintptr_t> <Kernel> compare_decimal,
    "compare_string": <uintptr_t> <Kernel> compare_string,
    "distinct": <uintptr_t> <Kernel> distinct,
    "null_test": <uintptr_t> <Kernel> null_test,
    "decide": <uintptr_t> <Kernel> decide,
    "and_nulls": <uintptr_t> <Kernel> and_nulls,
    "or_nulls": <uintptr_t> <Kernel> or_nulls,
    "and_plain": <uintptr_t> <Kernel> and_plain,
    "or_plain": <uintptr_t> <Kernel> or_plain,
    "negation": <uintptr_t> <Kernel> negation,
    "choose": <uintptr_t> <Kernel> choose,
    "coalesce": <uintptr_t> <Kernel> coalesce,
    "extreme_word": <uintptr_t> <Kernel> extreme_word,
    "extreme_decimal": <uintptr_t> <Kernel> extreme_decimal,
    "extreme_string": <uintptr_t> <Kernel> extreme_string,
}
