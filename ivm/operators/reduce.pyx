# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
# distutils: language = c++
"""Reduction at any depth: the full join closure of times.

A group's output can change at any least upper bound of its input's times. Each time at which it
is evaluated is therefore joined with every time of the group's history; bounds in the present
round are evaluated in this activation, later ones are parked as *reminders* for their rounds.
The output's own history is kept, so that a change is what the logic says less what was said
before (differential dataflow, CIDR 2013, section 3.2; K-Pg, section 5.3.2).
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memmove
from libcpp.vector cimport vector

from ivm.operators.logic cimport Candidate, Logic
from ivm.operators.operator cimport Operator, Reader, Region
from ivm.operators.parking cimport Parking
from ivm.rows.updates cimport Updates, empty_updates, push, release
from ivm.trace.batch cimport Batch, key_at, seek_key
from ivm.trace.sort cimport consolidate
from ivm.trace.times cimport MAX_COORDINATES, compare_words, join_into, less_equal
from ivm.trace.trace cimport Trace, append_history

cdef enum:
    LOOK_AHEAD = 16     # times of a history that are evaluated in advance


cdef class Reduce(Operator):
    """Key words, then the output words of `logic`, for each group of `reader`'s trace."""

    cdef readonly Reader reader
    cdef Logic logic
    cdef readonly Trace outputs     # the output's history
    cdef Parking reminders          # (key, time) to evaluate in later rounds; diff 1
    cdef Updates due                # keys and times to evaluate now
    cdef Updates input              # the present key's input history
    cdef Updates output             # the present key's output history
    cdef Updates times              # the present key's distinct times
    cdef Updates agenda             # the present key's times to evaluate, ascending
    cdef Updates visible            # the input up to the time being evaluated
    cdef Updates changes            # what is to be emitted at this time
    cdef vector[uint64_t] reminder  # one (key, time, diff)
    cdef vector[Candidate] group
    cdef vector[Py_ssize_t] positions

    def __init__(self, Region region, int row_words, Reader reader, Logic logic):
        cdef int key_words = reader.trace.key_words, depth = region.depth
        self.reader = reader
        self.logic = logic
        strings = reader.trace.strings if logic.selects else tuple(
            (word, flipped) for word, flipped in reader.trace.strings if word < key_words)
        self.outputs = Trace(key_words, logic.out_words, depth, strings)
        self.reminders = Parking()
        self.due = empty_updates(key_words, depth)
        self.input = empty_updates(reader.trace.val_words, depth)
        self.output = empty_updates(logic.out_words, depth)
        self.times = empty_updates(0, depth)
        self.agenda = empty_updates(0, depth)
        self.visible = empty_updates(reader.trace.val_words, 0)
        self.changes = empty_updates(logic.out_words, 0)
        self.reminder.assign(self.due.stride, 0)

    def __dealloc__(self):
        release(&self.due)
        release(&self.input)
        release(&self.output)
        release(&self.times)
        release(&self.agenda)
        release(&self.visible)
        release(&self.changes)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.reader.waiting(self.region) + self.reminders.due(self.region)

    cdef bint parked(self, uint64_t* at) noexcept nogil:
        return self.reminders.earliest(at, self.region.depth)

    cdef void abandon(self) noexcept nogil:
        self.out.length = 0
        self.reminders.clear()

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i = 0, j
        self.out.length = 0
        self.reader.look(self.region)
        self._gather_due()
        self.positions.assign(
            self.reader.history.size() + self.reader.delta.size() + self.outputs.layers.size() + 1, 0)
        while i < self.due.length:
            j = i + 1
            while j < self.due.length and compare_words(
                    self.due.words + i * self.due.stride, self.due.words + j * self.due.stride,
                    self.due.row_words) == 0:
                j += 1
            self._reduce_key(i, j)
            i = j
        if self.out.length > 0 or self.outputs.fresh != NULL:
            if consolidate(&self.out) < 0:
                self._no_memory()
            self.outputs.seal(&self.out, self.region.lower)
            self.outputs.absorb(self.region.lower)
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for a reduction in a loop")

    # Fills `due` with every (key, time) of the new batches and the reminders of this round.
    cdef int _gather_due(self) except -1 nogil:
        cdef Batch* b
        cdef Py_ssize_t k, i
        cdef uint64_t* update
        self.due.length = 0
        self.reminders.take(&self.due, self.region)
        for b in self.reader.delta:
            for k in range(b.keys):
                self.input.length = 0
                if append_history(b, k, &self.input) < 0:
                    self._no_memory()
                for i in range(self.input.length):
                    update = push(&self.due)
                    if update == NULL:
                        self._no_memory()
                    memcpy(update, key_at(b, k), b.key_words * sizeof(uint64_t))
                    update += b.key_words
                    memcpy(update, self.input.words + i * self.input.stride + self.input.row_words,
                           self.due.time_words * sizeof(uint64_t))
                    update[0] = max(update[0], self.region.lower)
                    update[self.due.time_words] = 1
        if consolidate(&self.due) < 0:
            self._no_memory()
        return 0

    # Evaluates the key of due[i] at the times of due[i:j] and at those that follow from them.
    cdef int _reduce_key(self, Py_ssize_t i, Py_ssize_t j) except -1 nogil:
        cdef const uint64_t* key = self.due.words + i * self.due.stride
        cdef uint64_t time[MAX_COORDINATES]
        cdef int depth = self.region.depth
        cdef Py_ssize_t next = 0
        self._load(key)
        self.agenda.length = 0
        while i < j:
            self._schedule(self.due.words + i * self.due.stride + self.due.row_words)
            i += 1
        while next < self.agenda.length:
            memcpy(time, self.agenda.words + next * self.agenda.stride, depth * sizeof(uint64_t))
            self._evaluate(key, time)
            if self._is_a_line(time):
                self._look_ahead(key, time)
            else:
                self._follow(key, time)
            next += 1
        return 0

    # Loads the key's input and output histories and its distinct times.
    cdef int _load(self, const uint64_t* key) except -1 nogil:
        cdef size_t slot = 0
        cdef Batch* b
        self.input.length = 0
        self.output.length = 0
        for b in self.reader.history:
            self._load_from(b, key, slot, &self.input)
            slot += 1
        for b in self.reader.delta:
            self._load_from(b, key, slot, &self.input)
            slot += 1
        for b in self.outputs.layers:
            self._load_from(b, key, slot, &self.output)
            slot += 1
        if consolidate(&self.input) < 0 or consolidate(&self.output) < 0:
            self._no_memory()
        self.times.length = 0
        self._note_times(&self.input)
        self._note_times(&self.output)
        if consolidate(&self.times) < 0:
            self._no_memory()
        return 0

    cdef int _load_from(self, const Batch* b, const uint64_t* key, size_t slot,
                        Updates* history) except -1 nogil:
        cdef Py_ssize_t k = seek_key(b, key, self.positions[slot]), i
        cdef Py_ssize_t start = history.length
        cdef uint64_t* time
        self.positions[slot] = k
        if k < b.keys and compare_words(key_at(b, k), key, b.key_words) == 0:
            if append_history(b, k, history) < 0:
                self._no_memory()
        for i in range(start, history.length):      # what is past is as of the step's lower bound
            time = history.words + i * history.stride + history.row_words
            time[0] = max(time[0], self.region.lower)
        return 0

    cdef int _note_times(self, const Updates* history) except -1 nogil:
        cdef Py_ssize_t i
        cdef uint64_t* update
        for i in range(history.length):
            update = push(&self.times)
            if update == NULL:
                self._no_memory()
            memcpy(update, history.words + i * history.stride + history.row_words,
                   self.times.time_words * sizeof(uint64_t))
            update[self.times.time_words] = 1
        return 0

    # Puts `time` on the agenda, in order, unless it is there.
    cdef int _schedule(self, const uint64_t* time) except -1 nogil:
        cdef Py_ssize_t i = self.agenda.length
        cdef int stride = self.agenda.stride, order
        while i > 0:
            order = compare_words(self.agenda.words + (i - 1) * stride, time, self.region.depth)
            if order == 0:
                return 0
            if order < 0:
                break
            i -= 1
        if push(&self.agenda) == NULL:
            self._no_memory()
        memmove(self.agenda.words + (i + 1) * stride, self.agenda.words + i * stride,
                (self.agenda.length - 1 - i) * stride * sizeof(uint64_t))
        memcpy(self.agenda.words + i * stride, time, self.region.depth * sizeof(uint64_t))
        return 0

    # Schedules the least upper bounds of `time` and the history's times: here, or for later rounds.
    cdef int _follow(self, const uint64_t* key, const uint64_t* time) except -1 nogil:
        cdef Py_ssize_t i
        cdef int depth = self.region.depth, words = self.due.row_words
        cdef const uint64_t* other
        cdef uint64_t* reminder
        for i in range(self.times.length):
            other = self.times.words + i * self.times.stride
            if less_equal(other, time, depth):
                continue
            reminder = self.reminder.data()
            memcpy(reminder + words, time, depth * sizeof(uint64_t))
            join_into(reminder + words, other, depth)
            reminder[self.due.stride - 1] = 1
            if compare_words(reminder + words + 1, self.region.at + 1, depth - 1) == 0:
                self._schedule(reminder + words)
            else:
                memcpy(reminder, key, words * sizeof(uint64_t))
                self.reminders.park(&self.due, reminder)
        return 0

    # True in a simple loop where the key's whole history lies in the present root time: its times
    # are then totally ordered.
    cdef bint _is_a_line(self, const uint64_t* time) noexcept nogil:
        cdef Py_ssize_t n = self.times.length
        return self.region.depth == 2 and (n == 0 or (
            self.times.words[0] == time[0]
            and self.times.words[(n - 1) * self.times.stride] == time[0]))

    # Finds the first later time of the history at which the output would change if no more input
    # came, and sets one reminder for it. More input would bring the key back by itself.
    cdef int _look_ahead(self, const uint64_t* key, const uint64_t* time) except -1 nogil:
        cdef Py_ssize_t i, looked = 0
        cdef const uint64_t* later
        for i in range(self.times.length):
            later = self.times.words + i * self.times.stride
            if later[1] <= time[1]:
                continue
            looked += 1
            if looked <= LOOK_AHEAD:
                self._find_changes(later)
            if looked > LOOK_AHEAD or self.changes.length > 0:
                memcpy(self.reminder.data(), key, self.due.row_words * sizeof(uint64_t))
                memcpy(self.reminder.data() + self.due.row_words, later, 2 * sizeof(uint64_t))
                self.reminder[self.due.stride - 1] = 1
                self.reminders.park(&self.due, self.reminder.data())
                return 0
        return 0

    # Emits the change of the key's output at `time`, and adds it to the output's history.
    cdef int _evaluate(self, const uint64_t* key, const uint64_t* time) except -1 nogil:
        cdef Py_ssize_t i
        cdef const uint64_t* update
        self._find_changes(time)
        for i in range(self.changes.length):
            update = self.changes.words + i * self.changes.stride
            self._write(&self.output, NULL, 0, update, time)
            self._write(&self.out, key, self.due.row_words, update, time)
        return 0

    # Fills `changes` with what the output lacks at `time`.
    cdef int _find_changes(self, const uint64_t* time) except -1 nogil:
        cdef Py_ssize_t i
        cdef int depth = self.region.depth
        cdef const uint64_t* update
        cdef uint64_t* target
        self._see(time)
        self.changes.length = 0
        self.logic.apply(&self.group, &self.changes)
        for i in range(self.output.length):
            update = self.output.words + i * self.output.stride
            if less_equal(update + self.output.row_words, time, depth):
                target = push(&self.changes)
                if target == NULL:
                    self._no_memory()
                memcpy(target, update, self.output.row_words * sizeof(uint64_t))
                target[self.changes.stride - 1] = 0 - update[self.output.stride - 1]
        if consolidate(&self.changes) < 0:
            self._no_memory()
        return 0

    # Fills `group` with the input's values up to `time`.
    cdef int _see(self, const uint64_t* time) except -1 nogil:
        cdef Py_ssize_t i
        cdef const uint64_t* update
        cdef uint64_t* target
        cdef Candidate candidate
        self.visible.length = 0
        for i in range(self.input.length):
            update = self.input.words + i * self.input.stride
            if less_equal(update + self.input.row_words, time, self.region.depth):
                target = push(&self.visible)
                if target == NULL:
                    self._no_memory()
                memcpy(target, update, self.input.row_words * sizeof(uint64_t))
                target[self.visible.stride - 1] = update[self.input.stride - 1]
        if consolidate(&self.visible) < 0:
            self._no_memory()
        self.group.clear()
        for i in range(self.visible.length):
            target = self.visible.words + i * self.visible.stride
            candidate.val = target
            candidate.count = <int64_t> target[self.visible.stride - 1]
            if candidate.count > 0:
                self.group.push_back(candidate)
        return 0

    cdef int _write(self, Updates* to, const uint64_t* key, int key_words, const uint64_t* change,
                    const uint64_t* time) except -1 nogil:
        cdef uint64_t* target = push(to)
        if target == NULL:
            self._no_memory()
        if key_words > 0:
            memcpy(target, key, key_words * sizeof(uint64_t))
        target += key_words
        memcpy(target, change, self.logic.out_words * sizeof(uint64_t))
        target += self.logic.out_words
        memcpy(target, time, to.time_words * sizeof(uint64_t))
        target[to.time_words] = change[self.changes.stride - 1]
        return 0
