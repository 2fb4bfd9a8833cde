"""Reduction at the root by a logic that may stop early: top-k, min, max, distinct.

Root times are totally ordered, so before each new time the old output is the logic of the old
input: no output is stored. A group's values are walked in order through all batches at once,
for the state before and after together, until the logic has seen enough of both.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.logic cimport Candidate, Logic
from ivm.operators.operator cimport Operator, Reader, Region
from ivm.rows.updates cimport Updates, empty_updates, push, release
from ivm.trace.batch cimport (
    Batch, diff_of, first_update, first_val, key_at, seek_key, time_of, val_at,
)
from ivm.trace.sort cimport consolidate
from ivm.trace.times cimport compare_words

# Part of one batch: a key's values still to be walked.
cdef struct Run:
    const Batch* batch
    Py_ssize_t val
    Py_ssize_t end
    bint is_new         # from the reader's delta


cdef class Select(Operator):
    """Key words, then the output words of `logic`, for each group of `reader`'s trace."""

    cdef readonly Reader reader
    cdef Logic logic
    cdef vector[Py_ssize_t] positions   # in each history batch
    cdef vector[Run] runs               # of the present key
    cdef vector[Run] walked
    cdef vector[uint64_t] times         # the present key's new times, ascending
    cdef vector[Candidate] before
    cdef vector[Candidate] after
    cdef Updates changes                # output values of one group at one time

    def __init__(self, Region region, int row_words, Reader reader, Logic logic):
        self.reader = reader
        self.logic = logic
        self.changes = empty_updates(logic.out_words, 0)

    def __dealloc__(self):
        release(&self.changes)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region)

    cdef int step(self) except -1 nogil:
        cdef size_t d
        cdef const uint64_t* key
        cdef vector[Py_ssize_t] at
        self.out.length = 0
        self.reader.look(self.region)
        if self.reader.delta.empty():
            return 0
        at.assign(self.reader.delta.size(), 0)
        self.positions.assign(self.reader.history.size(), 0)
        while True:
            key = NULL
            for d in range(at.size()):
                if at[d] < self.reader.delta[d].keys and (key == NULL or compare_words(
                        key_at(self.reader.delta[d], at[d]), key, self.reader.trace.key_words) < 0):
                    key = key_at(self.reader.delta[d], at[d])
            if key == NULL:
                return 0
            self._open(key, at.data())
            self._times()
            for d in range(self.times.size()):
                self._change(key, self.times[d])

    # Collects the runs of `key` and moves the positions in the delta batches past it.
    cdef void _open(self, const uint64_t* key, Py_ssize_t* at) noexcept nogil:
        cdef size_t i
        cdef Batch* b
        self.runs.clear()
        for i in range(self.reader.history.size()):
            b = self.reader.history[i]
            self.positions[i] = seek_key(b, key, self.positions[i])
            self._add_run(b, self.positions[i], key, False)
        for i in range(self.reader.delta.size()):
            b = self.reader.delta[i]
            if self._add_run(b, at[i], key, True):
                at[i] += 1

    cdef bint _add_run(self, const Batch* b, Py_ssize_t k, const uint64_t* key, bint is_new) noexcept nogil:
        cdef Run run
        if k == b.keys or compare_words(key_at(b, k), key, b.key_words) != 0:
            return False
        run.batch = b
        run.val = first_val(b, k)
        run.end = first_val(b, k + 1)
        run.is_new = is_new
        self.runs.push_back(run)
        return True

    # The distinct new times of the present key.
    cdef void _times(self) noexcept nogil:
        cdef Run* run
        cdef Py_ssize_t u
        cdef uint64_t time
        cdef size_t i, j
        self.times.clear()
        for i in range(self.runs.size()):
            run = &self.runs[i]
            if not run.is_new:
                continue
            for u in range(first_update(run.batch, run.val), first_update(run.batch, run.end)):
                time = max(time_of(run.batch, u)[0], self.region.lower)
                j = self.times.size()
                while j > 0 and self.times[j - 1] > time:
                    j -= 1
                if j == 0 or self.times[j - 1] != time:
                    self.times.insert(self.times.begin() + j, time)
                if run.batch.time_of == NULL:
                    break

    # Emits what changes for `key` at `time`.
    cdef int _change(self, const uint64_t* key, uint64_t time) except -1 nogil:
        cdef Py_ssize_t i, middle
        cdef uint64_t* update
        self._walk(time)
        self.changes.length = 0
        self.logic.apply(&self.before, &self.changes)
        middle = self.changes.length
        self.logic.apply(&self.after, &self.changes)
        for i in range(middle):
            update = self.changes.words + (i + 1) * self.changes.stride - 1
            update[0] = 0 - update[0]
        if consolidate(&self.changes) < 0:
            self._no_memory()
        for i in range(self.changes.length):
            update = push(&self.out)
            if update == NULL:
                self._no_memory()
            memcpy(update, key, self.reader.trace.key_words * sizeof(uint64_t))
            update += self.reader.trace.key_words
            memcpy(update, self.changes.words + i * self.changes.stride,
                   self.logic.out_words * sizeof(uint64_t))
            update[self.logic.out_words] = time
            update[self.logic.out_words + 1] = self.changes.words[(i + 1) * self.changes.stride - 1]
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for a reduction's output")

    # Fills `before` and `after` with the group's values just before `time` and at it.
    cdef void _walk(self, uint64_t time) noexcept nogil:
        cdef const uint64_t* val
        cdef int64_t old, new, total_before = 0, total_after = 0
        cdef bint done_before = False, done_after = False
        cdef size_t i
        cdef Run* run
        cdef int words = self.reader.trace.val_words
        self.before.clear()
        self.after.clear()
        self.walked = self.runs
        while not (done_before and done_after):
            val = NULL
            for i in range(self.walked.size()):
                run = &self.walked[i]
                if run.val < run.end and (
                        val == NULL or compare_words(val_at(run.batch, run.val), val, words) < 0):
                    val = val_at(run.batch, run.val)
            if val == NULL:
                return
            old = 0
            new = 0
            for i in range(self.walked.size()):
                run = &self.walked[i]
                if run.val < run.end and compare_words(val_at(run.batch, run.val), val, words) == 0:
                    self._count(run, time, &old, &new)
                    run.val += 1
            if old > 0 and not done_before:
                done_before = self._add(&self.before, val, old, &total_before)
            if new > 0 and not done_after:
                done_after = self._add(&self.after, val, new, &total_after)

    cdef bint _add(self, vector[Candidate]* group, const uint64_t* val, int64_t count,
                   int64_t* total) noexcept nogil:
        cdef Candidate candidate
        if not group.empty() and self.logic.enough(group, total[0], val):
            return True
        candidate.val = val
        candidate.count = count
        group.push_back(candidate)
        total[0] += count
        return False

    # Adds the run's diffs of its present value: to `old` those before `time`, to `new` those up to it.
    cdef void _count(self, const Run* run, uint64_t time, int64_t* old, int64_t* new) noexcept nogil:
        cdef Py_ssize_t u
        cdef uint64_t at
        cdef int64_t diff
        for u in range(first_update(run.batch, run.val), first_update(run.batch, run.val + 1)):
            diff = diff_of(run.batch, u)
            at = max(time_of(run.batch, u)[0], self.region.lower) if run.is_new else 0
            if not run.is_new or at < time:
                old[0] += diff
            if not run.is_new or at <= time:
                new[0] += diff
