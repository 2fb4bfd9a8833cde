"""Releasing strings that no batch, group or waiting update uses any more: mark and sweep.

Between steps every string in use is in a trace, a group's key, an input's queue or a capture.
Counting uses instead would cost each copy of a row; marking costs a walk over the string columns,
and happens once the strings have doubled.
"""

from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.arranging.capture cimport Capture, CaptureArranged, Kept
from ivm.operators.reductions.histories cimport Curve, Curves
from ivm.operators.base.state_table cimport Groups
from ivm.operators.arranging.input cimport Input
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates, update_at
from ivm.trace.batch cimport Batch
from ivm.trace.spine cimport Trace

cdef enum:
    ROWS = 1024     # that are marked together


def sweep(Interner interner, traces, groups, curves, inputs, captures) -> bool:
    """Release the strings of which none of these makes use; False, and nothing is done, while a
    snapshot is being read.

    `inputs` and `captures` come with the string words of their rows, as pairs. Call between steps.
    """
    cdef Trace trace
    cdef vector[Batch*] batches
    cdef Updates waiting
    cdef Groups table
    cdef Curves histories
    cdef Kept kept
    if interner.snapshots > 0:
        return False
    interner.begin_sweep()
    for trace in traces:
        trace.held(&batches)
        _mark_batches(interner, &batches, trace)
    for table in groups:
        _mark_keys(interner, table)
    for histories in curves:
        _mark_keys(interner, histories.groups)
        _mark_histories(interner, histories)
    for queue, strings in inputs:
        waiting = (<Input?> queue).queue
        waiting.words = update_at(&waiting, (<Input> queue).start)
        waiting.length -= (<Input> queue).start
        _mark_updates(interner, &waiting, strings)
    for capture, strings in captures:
        _mark_updates(interner, &(<Capture?> capture).taken, strings)
        if isinstance(capture, CaptureArranged):
            batches.clear()
            for kept in (<CaptureArranged> capture).kept:
                batches.push_back(kept.batch)
            _mark_batches(interner, &batches, (<CaptureArranged> capture).reader.trace)
    interner.sweep()
    return True


# Marks the strings of batches that are, or were, those of `trace`.
cdef int _mark_batches(Interner interner, const vector[Batch*]* batches, Trace trace) except -1:
    cdef size_t i
    cdef Batch* b
    keys = [(word, flipped) for word, flipped in trace.strings if word < trace.key_words]
    vals = [(word - trace.key_words, flipped) for word, flipped in trace.strings
            if word >= trace.key_words]
    for i in range(batches.size()):
        b = batches[0][i]
        _mark_rows(interner, b.key, b.keys, b.key_words, keys)
        _mark_rows(interner, b.val, b.vals, b.val_words, vals)
    return 0


cdef int _mark_keys(Interner interner, Groups table) except -1:
    return _mark_rows(interner, table.rows.words, table.length(), table.stride, table.strings)


cdef int _mark_histories(Interner interner, Curves curves) except -1:
    cdef uint32_t entry
    cdef Curve* curve
    for entry in range(curves.groups.length()):
        curve = curves.curve(entry)
        for word, flipped in curves.strings:
            _mark(interner, curve.past.words + <int> word, curve.past.length, curves.stride, flipped)
    return 0


# Marks the words `strings` of each row, while few rows at a time are in the cache.
cdef int _mark_rows(Interner interner, const uint64_t* rows, Py_ssize_t n, Py_ssize_t stride,
                    strings) except -1:
    cdef Py_ssize_t start = 0, size
    cdef int word
    cdef bint flipped
    while start < n and strings:
        size = min(n - start, <Py_ssize_t> ROWS)
        for word, flipped in strings:
            _mark(interner, rows + start * stride + word, size, stride, flipped)
        start += size
    return 0


cdef void _mark(Interner interner, const uint64_t* words, Py_ssize_t n, Py_ssize_t stride,
                bint flipped) noexcept nogil:
    cdef Py_ssize_t i
    cdef uint64_t word
    if not flipped:
        interner.mark(words, n, stride)
        return
    for i in range(n):
        word = ~words[i * stride]
        interner.mark(&word, 1, 1)


cdef int _mark_updates(Interner interner, const Updates* updates, tuple strings) except -1:
    return _mark_rows(interner, updates.words, updates.length, updates.stride, strings)
