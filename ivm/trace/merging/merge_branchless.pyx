"""Branchless merging: rows of alternating sides are chosen one by one, without branches.

Where sides alternate, the next side is as good as random, and half of a processor's predictions would be
wrong. Three loops keep the work for a row small: one for batches whose keys have one value each, one for
stretches of such keys among others, and one for all. Each of them writes to all arrays at once; surplus
entries are written over.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t

from ivm.trace.batch cimport Batch, diff_of, first_val, key_at, val_at
from ivm.trace.merging.merge_state cimport Merge, Side
from ivm.trace.merging.merge_output cimport copy_words, is_last_key
from ivm.trace.times cimport compare_words

# As GCC schedules code for AMD's processors, the loop of `_zip_any` reads words of which it has just written
# one byte. It waits for the write: half of a merge's time.
cdef extern from *:
    """
    #if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    #pragma GCC target("tune=haswell")
    #endif
    """
    ctypedef unsigned long long Row "unsigned __int128"     # of a key and a value of one word each
    bint sum_wraps "__builtin_add_overflow"(int64_t x, int64_t y, int64_t* sum) noexcept nogil

cdef enum:
    ZIP_STEPS = 32      # rows chosen one by one between looks for a run
    LOOK_AGAIN = 4      # rounds of these, after which keys are looked at again that had several values
    SHORT_RUN = 4       # keys, from which a run is copied as a block


cdef bint zip_sides(Merge* m, const Side* side, Py_ssize_t run, bint same) noexcept nogil:
    cdef int key_words = m.out.key_words, val_words = m.out.val_words
    if run >= SHORT_RUN or not m.a.single or not m.b.single:
        return False
    if m.vals_from >= 0 and m.out.time_of == NULL and m.out.keys > 0:
        if m.diffs_from < 0:
            m.diffs_from = m.out.updates
        _zip_rows(m)
        return True
    if m.vals_from >= 0 or same or is_last_key(m.out, m.out.keys, key_at(side.b, side.key)):
        return False
    if key_words == 1 and val_words == 1:
        _zip_keys(m, 1, 1)
    else:
        _zip_keys(m, key_words, val_words)
    return True


# Chooses one of two words or addresses without a branch: `x` if `mask` is all ones, `y` if it is 0.
cdef inline uint64_t _either(uint64_t mask, uint64_t x, uint64_t y) noexcept nogil:
    return y ^ ((x ^ y) & mask)


# Chooses one key after the other while the sides alternate and each key has one value with one update.
# Stops after a run, at the end of a side, without fuel, and at a key that both sides have.
cdef inline void _zip_keys(Merge* m, int key_words, int val_words) noexcept nogil:
    cdef Batch* out = m.out
    cdef const Batch* a = m.a.b
    cdef const Batch* b = m.b.b
    cdef Py_ssize_t i = m.a.key, j = m.b.key, n, s, from_a
    cdef const uint64_t* x
    cdef const uint64_t* y
    cdef uint64_t mask
    cdef int order
    while True:
        n = min(min(m.a.b.keys - i, m.b.b.keys - j), min(m.fuel, <Py_ssize_t> ZIP_STEPS))
        from_a = i
        for s in range(n):
            x = a.key + i * key_words
            y = b.key + j * key_words
            if key_words == 1:
                if x[0] == y[0]:
                    break
                mask = -(<uint64_t> (x[0] < y[0]))
                out.key[out.keys + s] = _either(mask, x[0], y[0])
            else:
                order = compare_words(x, y, key_words)
                if order == 0:
                    break
                mask = -(<uint64_t> (order < 0))
                copy_words(out.key + (out.keys + s) * key_words,
                      <const uint64_t*> _either(mask, <uint64_t> x, <uint64_t> y), key_words)
            if val_words == 1:
                out.val[out.vals + s] = _either(mask, a.val[i], b.val[j])
            else:
                copy_words(out.val + (out.vals + s) * val_words, <const uint64_t*> _either(
                    mask, <uint64_t> (a.val + i * val_words), <uint64_t> (b.val + j * val_words)), val_words)
            if out.time_of != NULL:
                _zip_time(m, mask, i, j, out.updates + s)
            if m.diffs_from >= 0:
                _zip_diff(m, mask, i, j, out.updates + s)
            if m.updates_from >= 0:
                out.update_start[out.vals + s] = <uint32_t> (out.updates + s)
            i += <Py_ssize_t> (mask & 1)
            j += <Py_ssize_t> (~mask & 1)
        from_a = i - from_a
        s = (i - m.a.key) + (j - m.b.key)
        m.a.key = m.a.val = i
        m.b.key = m.b.val = j
        m.fuel -= s
        out.keys += s
        out.vals += s
        out.updates += s
        if s < ZIP_STEPS or from_a == 0 or from_a == s:
            return


cdef inline void _zip_time(Merge* m, uint64_t mask, Py_ssize_t i, Py_ssize_t j, Py_ssize_t u) noexcept nogil:
    m.out.time_of[u] = <uint32_t> _either(
        mask, m.a.mapped[0 if m.a.b.time_of == NULL else m.a.b.time_of[i]],
        m.b.mapped[0 if m.b.b.time_of == NULL else m.b.b.time_of[j]])


cdef inline void _zip_diff(Merge* m, uint64_t mask, Py_ssize_t i, Py_ssize_t j, Py_ssize_t u) noexcept nogil:
    cdef int64_t diff = <int64_t> _either(
        mask, <uint64_t> diff_of(m.a.b, i), <uint64_t> diff_of(m.b.b, j))
    m.out.diff[u] = diff
    m.odd_diffs |= <uint64_t> (diff ^ 1)


# The positions of the branchless loops in their sources and in the result.
cdef struct Zip:
    Py_ssize_t i, j     # the keys that the sides are at
    Py_ssize_t va, vb   # and their values
    Py_ssize_t k, v     # the next key and value of the result
    uint64_t odd        # not 0 if a diff was neither 1 nor nothing


# Chooses one row after the other while the sides alternate, of keys with any number of values, each
# with one update, and all times one. Sums a row that both sides have. Stops after a run, at the end
# of a side, and without fuel. Starts of values and diffs are written.
cdef void _zip_rows(Merge* m) noexcept nogil:
    cdef Batch* out = m.out
    cdef Zip z = Zip(m.a.key, m.b.key, m.a.val, m.b.val, out.keys, out.vals, 0)
    cdef Py_ssize_t n, from_a, from_b
    cdef int unsure = 0     # rounds since keys were looked at that had several values
    while True:
        n = min(min(m.a.b.vals - z.va, m.b.b.vals - z.vb), min(m.fuel, <Py_ssize_t> ZIP_STEPS))
        from_a = z.va
        from_b = z.vb
        if n < ZIP_STEPS or unsure > 0 or not _are_single(m, &z):
            unsure = (unsure + 1) % LOOK_AGAIN
            _zip_any(m, &z, n)
        elif not _zip_single(m, &z):
            _zip_any(m, &z, 1)
        from_a = z.va - from_a
        from_b = z.vb - from_b
        m.fuel -= from_a + from_b
        if n < ZIP_STEPS or from_a == 0 or from_b == 0:
            break
    m.odd_diffs |= z.odd
    out.updates += z.v - out.vals
    out.keys = z.k
    out.vals = z.v
    m.a.key = z.i
    m.a.val = z.va
    m.b.key = z.j
    m.b.val = z.vb


# Takes `n` steps, each of which chooses a row, or sums two that are the same.
cdef void _zip_any(Merge* m, Zip* z, Py_ssize_t n) noexcept nogil:
    if m.out.key_words == 1 and m.out.val_words == 1:
        _zip_any_words(m, z, n, 1, 1)
    else:
        _zip_any_words(m, z, n, m.out.key_words, m.out.val_words)


cdef inline void _zip_any_words(Merge* m, Zip* z, Py_ssize_t n, int key_words, int val_words) noexcept nogil:
    cdef Batch* out = m.out
    cdef const Batch* a = m.a.b
    cdef const Batch* b = m.b.b
    cdef const int64_t* diff_a = a.diff
    cdef const int64_t* diff_b = b.diff
    cdef const uint32_t* start_a = a.val_start
    cdef const uint32_t* start_b = b.val_start
    cdef int64_t* diffs = out.diff + (out.updates - out.vals)
    cdef Py_ssize_t i = z.i, j = z.j, va = z.va, vb = z.vb, k = z.k, v = z.v, s
    cdef const uint64_t* x
    cdef const uint64_t* y
    cdef uint64_t key, odd = 0
    cdef uint64_t in_a, in_b, keep, ends_a, ends_b  # 0 or 1
    cdef Row row_a, row_b
    cdef int64_t diff, of_a, of_b
    cdef bint wrapped = False
    cdef int order
    for s in range(n):
        ends_a = start_a == NULL or va + 1 == start_a[i + 1]
        ends_b = start_b == NULL or vb + 1 == start_b[j + 1]
        x = a.key + i * key_words
        y = b.key + j * key_words
        if key_words == 1 and val_words == 1:
            row_a = <Row> x[0] << 64 | a.val[va]
            row_b = <Row> y[0] << 64 | b.val[vb]
            in_a = row_a <= row_b
            in_b = row_b <= row_a
            out.val[v] = _either(-in_a, a.val[va], b.val[vb])
        else:
            order = compare_words(x, y, key_words)
            if order == 0:
                order = compare_words(val_at(a, va), val_at(b, vb), val_words)
            in_a = order <= 0
            in_b = order >= 0
            copy_words(out.val + v * val_words, val_at(a, va) if in_a else val_at(b, vb), val_words)
        of_a = (1 if diff_a == NULL else diff_a[va]) & <int64_t> -in_a
        of_b = (1 if diff_b == NULL else diff_b[vb]) & <int64_t> -in_b
        wrapped |= sum_wraps(of_a, of_b, &diff)
        keep = diff != 0
        diffs[v] = diff
        odd |= <uint64_t> (diff >> 1)
        out.val_start[k] = <uint32_t> v     # counts if the key is new
        if key_words == 1:
            key = _either(-in_a, x[0], y[0])
            out.key[k] = key
            k += keep & (key != out.key[k - 1])
        elif keep and not is_last_key(out, k, x if in_a else y):
            copy_words(out.key + k * key_words, x if in_a else y, key_words)
            k += 1
        v += keep
        va += in_a
        vb += in_b
        i += in_a & ends_a
        j += in_b & ends_b
    if wrapped:
        m.overflowed = 1
    z[0] = Zip(i, j, va, vb, k, v, z.odd | odd)


# True if the next ZIP_STEPS keys of both sides have one value left each, and the first ones are new. Then the
# end of a key need not be searched.
cdef inline bint _are_single(const Merge* m, const Zip* z) noexcept nogil:
    cdef const Batch* a = m.a.b
    cdef const Batch* b = m.b.b
    return (z.i + ZIP_STEPS <= m.a.b.keys and first_val(a, z.i + ZIP_STEPS) == z.va + ZIP_STEPS
            and z.j + ZIP_STEPS <= m.b.b.keys and first_val(b, z.j + ZIP_STEPS) == z.vb + ZIP_STEPS
            and not is_last_key(m.out, z.k, key_at(a, z.i))
            and not is_last_key(m.out, z.k, key_at(b, z.j)))


# Chooses ZIP_STEPS rows whose keys have one value each; False if fewer, before a key that both sides have.
cdef bint _zip_single(Merge* m, Zip* z) noexcept nogil:
    if m.out.key_words == 1 and m.out.val_words == 1:
        return _zip_single_words(m, z, 1, 1)
    return _zip_single_words(m, z, m.out.key_words, m.out.val_words)


cdef inline bint _zip_single_words(Merge* m, Zip* z, int key_words, int val_words) noexcept nogil:
    cdef Batch* out = m.out
    cdef uint64_t* keys = out.key + z.k * key_words
    cdef uint64_t* vals = out.val + z.v * val_words
    cdef uint32_t* starts = out.val_start + z.k
    cdef int64_t* diffs = out.diff + (out.updates - out.vals) + z.v
    cdef const uint64_t* key_a = m.a.b.key + z.i * key_words
    cdef const uint64_t* key_b = m.b.b.key + z.j * key_words
    cdef const uint64_t* val_a = m.a.b.val + z.va * val_words
    cdef const uint64_t* val_b = m.b.b.val + z.vb * val_words
    cdef Py_ssize_t s, i = 0, j = 0
    cdef uint64_t mask
    cdef int64_t diff
    cdef int order
    for s in range(ZIP_STEPS):
        if key_words == 1:
            if key_a[i] == key_b[j]:
                break
            mask = -(<uint64_t> (key_a[i] < key_b[j]))
            keys[s] = _either(mask, key_a[i], key_b[j])
        else:
            order = compare_words(key_a + i * key_words, key_b + j * key_words, key_words)
            if order == 0:
                break
            mask = -(<uint64_t> (order < 0))
            copy_words(keys + s * key_words, key_a + i * key_words if order < 0 else key_b + j * key_words,
                       key_words)
        if val_words == 1:
            vals[s] = _either(mask, val_a[i], val_b[j])
        else:
            copy_words(vals + s * val_words, <const uint64_t*> _either(
                mask, <uint64_t> (val_a + i * val_words), <uint64_t> (val_b + j * val_words)), val_words)
        diff = <int64_t> _either(mask, <uint64_t> diff_of(m.a.b, z.va + i), <uint64_t> diff_of(m.b.b, z.vb + j))
        diffs[s] = diff
        z.odd |= <uint64_t> (diff >> 1)
        starts[s] = <uint32_t> (z.v + s)
        i += <Py_ssize_t> (mask & 1)
        j += <Py_ssize_t> (~mask & 1)
    s = i + j
    z.i += i
    z.va += i
    z.j += j
    z.vb += j
    z.k += s
    z.v += s
    return s == ZIP_STEPS
