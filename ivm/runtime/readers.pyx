"""Readers of a pool: its deltas, snapshots and errors, as Arrow batches.

Traces publish their batches and readers take them while holding the GIL, so that a reader sees
all traces as of one frontier; the batches themselves never change and are read without it.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

import numpy as np

from ivm.operators.arranging.capture cimport Capture
from ivm.operators.errors.evaluate cimport Fallible
from ivm.memory.buffers cimport start_of
from ivm.rows.codec cimport decode, encode_key
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing, pack
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates, empty_updates, push, release
from ivm.threads.team cimport watch_overflow
from ivm.trace.batch cimport Batch, count_as_of, drop, first_val, key_at, retain, val_at
from ivm.trace.probe cimport probe
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.spine cimport Trace
from ivm.runtime.schedule cimport Schedule

from ivm.errors import TimeIncomplete

cdef uint64_t ALL = 0xFFFFFFFFFFFFFFFF


def drain(captures, Layout layout, Interner interner):
    """Take the updates of `captures` (one for each shard): (RecordBatch, times, diffs), consolidated.

    They are in the order of times; within a time, updates that take rows out come before those that add rows.
    """
    cdef Updates all = empty_updates(layout.words, 1)
    cdef Capture capture
    cdef int failed = 0, overflowed = 0
    cdef int* before = watch_overflow(&overflowed)
    cdef Py_ssize_t i
    try:
        for capture in captures:
            capture.give(&all)
        with nogil:
            failed = consolidate(&all)
        if failed != 0:
            raise MemoryError("no memory to take a view's deltas")
        refuse_overflow(overflowed)
        times = np.empty(all.length, np.uint64)
        diffs = np.empty(all.length, np.int64)
        _copy_column(&all, layout.words, times)
        _copy_column(&all, layout.words + 1, diffs)
        order = _retractions_first(times, diffs)
        if order is None:
            rows = decode(all.words, all.length, all.stride, layout, interner)
        else:
            words = np.empty((all.length, all.stride), np.uint64)
            memcpy(start_of(words), all.words, all.length * all.stride * sizeof(uint64_t))
            words = words[order]
            rows = decode(<uint64_t*> start_of(words), all.length, all.stride, layout, interner)
            times, diffs = times[order], diffs[order]
        for capture in captures:        # only now: what failed can be asked for again
            capture.clear()
        return rows, times, diffs
    finally:
        watch_overflow(before)
        release(&all)


cdef int refuse_overflow(int overflowed) except -1:
    if overflowed:
        raise OverflowError("a row's copies are more than 64 bits count")
    return 0


# The positions of updates by time, and by the sign of their diffs within one; None: they are in this order.
cdef object _retractions_first(times, diffs):
    if len(times) < 2:
        return None
    adds, last = diffs > 0, len(times) - 1
    in_order = (times[:last] < times[1:]) | ((times[:last] == times[1:]) & (adds[:last] <= adds[1:]))
    if in_order.all():
        return None
    order = np.argsort(adds, kind="stable")
    return order[np.argsort(times[order], kind="stable")]


# Copies word `word` of each update to an array of as many 64-bit numbers.
cdef int _copy_column(const Updates* updates, int word, array) except -1:
    cdef uint64_t* target = <uint64_t*> start_of(array)
    cdef Py_ssize_t i
    for i in range(updates.length):
        target[i] = updates.words[i * updates.stride + word]
    return 0


def snapshot(Trace trace, Schedule schedule, Packing packing, Layout layout, Interner interner, values,
             Layout key, as_of):
    """The published rows of an arrangement as (RecordBatch, counts, time); time -1: none yet.

    `trace` is its; `packing` makes a row of `layout` from (key, value). With
    `values` (of the key's columns, laid out by `key`) only that key's rows, else (None) all.

    `as_of` is None or a time to read the rows at, which is right if no step has compacted it away;
    raises TimeIncomplete if it is after the published one.
    """
    interner.open_snapshot()
    try:
        return _snapshot(trace, schedule, packing, layout, interner, values, key, as_of)
    finally:
        interner.close_snapshot()


cdef object _snapshot(Trace trace, Schedule schedule, Packing packing, Layout layout, Interner interner,
                      values, Layout key, as_of):
    cdef vector[Batch*] batches
    cdef vector[uint64_t] words
    cdef Updates rows = empty_updates(layout.words, 0)
    cdef Batch* b
    cdef const uint64_t* wanted = NULL
    cdef int failed = 0, overflowed = 0
    cdef int* before = watch_overflow(NULL)
    cdef int64_t time
    cdef uint64_t last
    if values is not None:
        words.resize(key.words + 1, 0)
        encode_key(values, key, interner, words.data())
        wanted = words.data()
    batches.assign(trace.published.begin(), trace.published.end())
    time = schedule.published
    if as_of is not None and as_of > time:
        raise TimeIncomplete(f"time {as_of} is not complete: the last one that is, is {time}"
                             if time >= 0 else "no time is complete yet")
    last = ALL if as_of is None else as_of
    for b in batches:
        retain(b)
    try:
        watch_overflow(&overflowed)
        with nogil:
            for b in batches:
                failed |= _read(b, wanted, last, packing, &rows)
            failed |= consolidate(&rows)
        if failed != 0:
            raise MemoryError("no memory to read an arrangement")
        refuse_overflow(overflowed)
        counts = np.empty(rows.length, np.int64)
        _copy_column(&rows, layout.words, counts)
        return decode(rows.words, rows.length, rows.stride, layout, interner), counts, time
    finally:
        watch_overflow(before)
        for b in batches:
            drop(b)
        release(&rows)


# Appends the batch's rows (of `key`, or all) with what their diffs up to time `last` add up to.
cdef int _read(const Batch* b, const uint64_t* key, uint64_t last, Packing packing,
               Updates* rows) noexcept nogil:
    cdef Py_ssize_t k = 0, end = b.keys, v
    cdef uint64_t* row
    if key != NULL:
        probe(b, key, b.key_words, 1, 1, 0, &k)
        if k < 0:
            return 0
        end = k + 1
    while k < end:
        for v in range(first_val(b, k), first_val(b, k + 1)):
            row = push(rows)
            if row == NULL:
                return -1
            pack(packing, key_at(b, k), val_at(b, v), NULL, row)
            row[rows.stride - 1] = <uint64_t> count_as_of(b, v, &last)
        k += 1
    return 0


def take_errors(operators, Layout layout, Interner interner):
    """Take the error updates of `operators` (Fallible) as (messages, root times, diffs)."""
    cdef Updates all = empty_updates(1, 1)
    cdef Fallible operator
    if not any([(<Fallible?> operator).errors.length for operator in operators]):
        return [], [], []
    cdef Py_ssize_t i
    cdef uint64_t* target
    cdef const uint64_t* error
    try:
        for operator in operators:
            for i in range(operator.errors.length):
                error = operator.errors.words + i * operator.errors.stride
                target = push(&all)
                if target == NULL:
                    raise MemoryError("no memory to take a view's errors")
                memcpy(target, error, 2 * sizeof(uint64_t))
                target[2] = error[operator.errors.stride - 1]
        if consolidate(&all) < 0:
            raise MemoryError("no memory to take a view's errors")
        times = np.empty(all.length, np.uint64)
        diffs = np.empty(all.length, np.int64)
        _copy_column(&all, 1, times)
        _copy_column(&all, 2, diffs)
        messages = decode(all.words, all.length, all.stride, layout, interner).column(0).to_pylist()
        taken = messages, times.tolist(), diffs.tolist()
        for operator in operators:
            operator.errors.length = 0
        return taken
    finally:
        release(&all)
