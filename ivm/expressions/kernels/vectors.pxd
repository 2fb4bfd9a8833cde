# Vectors of words, NULLs and errors are the registers of expression kernels.
#
# Row i of a register is in this order: an error if errors[i] is not 0, else NULL if nulls[i] is 1,
# else its words, in the row format. Words of a NULL or an error mean nothing but are initialised,
# and those of strings are always valid, so that `view` may be called on any.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from ivm.rows.interner cimport Strings

cdef enum:
    VECTOR = 1024   # rows evaluated at a time


cdef struct Register:
    int width           # words of a value
    uint64_t* words     # VECTOR * width
    uint8_t* nulls      # VECTOR; or NULL where no row can be NULL
    uint32_t* errors    # VECTOR, numbers of messages from 1; or NULL where no row can fail


# The rows under evaluation.
cdef struct Frame:
    Strings* strings
    const uint64_t* rows       # where the block's updates begin
    Py_ssize_t stride          # words from one update to the next
    const uint32_t* selected   # the updates of the block to take; or NULL for the first n
    Py_ssize_t n               # rows in the vectors
    bint out_of_memory         # a kernel could not keep a string


cdef struct Instruction

ctypedef void (*Kernel)(Frame* frame, const Instruction* it) noexcept nogil

# One application of a kernel, which defines its parameters `p` and `q`.
cdef struct Instruction:
    Kernel run
    Register* out
    const Register* a
    const Register* b
    const Register* c
    const Register** given  # all `count` arguments, a, b and c among them
    int count
    int64_t p
    int64_t q
    uint32_t message        # of the kernel's usual failure, from 1
    uint32_t overflow       # of a result that its type cannot hold, from 1


# Begins the NULLs and errors of `out`: where an argument is NULL or has an error, so is the result.
cdef inline void start_strict(Frame* f, const Instruction* it) noexcept nogil:
    if it.out.nulls != NULL:
        memset(it.out.nulls, 0, f.n)
        spread_nulls(f, it.out, it.a)
        spread_nulls(f, it.out, it.b)
        spread_nulls(f, it.out, it.c)
    if it.out.errors != NULL:
        memset(it.out.errors, 0, f.n * sizeof(uint32_t))
        spread_errors(f, it.out, it.a)
        spread_errors(f, it.out, it.b)
        spread_errors(f, it.out, it.c)


cdef inline void spread_nulls(Frame* f, Register* out, const Register* given) noexcept nogil:
    cdef Py_ssize_t i
    if given != NULL and given.nulls != NULL:
        for i in range(f.n):
            out.nulls[i] |= given.nulls[i]


# The first argument's error wins.
cdef inline void spread_errors(Frame* f, Register* out, const Register* given) noexcept nogil:
    cdef Py_ssize_t i
    if given != NULL and given.errors != NULL:
        for i in range(f.n):
            if out.errors[i] == 0:
                out.errors[i] = given.errors[i]


cdef inline bint has_error(const Register* r, Py_ssize_t i) noexcept nogil:
    return r.errors != NULL and r.errors[i] != 0


# Not an error, but NULL.
cdef inline bint has_null(const Register* r, Py_ssize_t i) noexcept nogil:
    return r.nulls != NULL and r.nulls[i] != 0


# True if row i of a started register still wants a value.
cdef inline bint wanted(const Register* r, Py_ssize_t i) noexcept nogil:
    return not has_null(r, i) and not has_error(r, i)


# Gives row i an error, unless it is NULL or has one.
cdef inline void fail(const Instruction* it, Py_ssize_t i, uint32_t message) noexcept nogil:
    if wanted(it.out, i):
        it.out.errors[i] = message


# Row i of `out` becomes row i of `given` in every respect.
cdef inline void take(Register* out, const Register* given, Py_ssize_t i) noexcept nogil:
    cdef int w
    for w in range(out.width):
        out.words[i * out.width + w] = given.words[i * out.width + w]
    if out.nulls != NULL:
        out.nulls[i] = has_null(given, i)
    if out.errors != NULL:
        out.errors[i] = given.errors[i] if given.errors != NULL else 0
