"""Reduce in a loop: a group's output at every time at which it can change.

A group's output can change at any least upper bound of its input's times, one of which is new (the join
closure; differential dataflow, CIDR 2013, section 3.4; Shared arrangements, VLDB 2020, section 5.3.2). A
touched key is evaluated in the round of its change. Then its known times are *looked over*: the later ones
are tried, in the order of the sweep, until the output would change if no more input came, and one reminder is
set for that time. More input brings the key back by itself: inputs at (1, 0) and (0, 2), for example, may
change the output at (1, 2).

At time t emit Δ(t) = L(past + new, t) − L(past, t) − Σ_{s≤t} Δ(s), with L the logic on the accumulated group,
and the sum over the changes emitted so far: before the step the output was right at every time. No output is
kept, and where the new input cancels the logic is not asked. Groups that are summed have histories of their own
(`ivm.operators.reductions.accumulable_in_loop`).
"""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.reductions.histories cimport PREFETCHED, Curves, Touch, from_sweep, to_sweep, touch_at
from ivm.operators.reductions.sorted_entries cimport Entries, entry_at
from ivm.operators.aggregates.aggregate cimport Candidate, Logic
from ivm.operators.reductions.sweeping cimport Sweeping
from ivm.operators.base.operator cimport Operator, Region, let_go, read_alone
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.rows.updates cimport Updates, append, bytes_of, empty_updates, push, release, update_at
from ivm.trace.counts cimport add_to, negate, sum_of
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport MAX_COORDINATES, compare_words, less_equal

cdef enum:
    LOOK_AHEAD = 16     # later times that are evaluated before a reminder is set anyway
    LOOK_OVER = 512     # later times that are considered before a reminder is set anyway
    FAR = 16            # touched keys that are prefetched before they are evaluated
    NEAR = 8            # and their histories
    NEXT = 4            # and the entries to which these point
    FEW_CHANGES = 16    # below, equal values are found by looking at all
    MANY_UPDATES = 64   # of a round, from which on they are taken in the order of their keys


# The values of a group, as far as they matter to the logic.
cdef struct Sight:
    int64_t total       # copies of the values
    bint complete       # the logic needs no further value


@cython.final
cdef class Reduce(Sweeping):
    """Reduces each group of `source` to key words, then the output words of `logic`.

    Rows of `source` are `key_words` words of key and then a value, in the order of which a group is handed to
    `logic`. `strings` are those of a row, as of a Trace. `partitioner` finds the owners of keys, whose shards
    keep and evaluate them.
    """

    cdef Logic logic
    cdef readonly Curves curves
    cdef uint64_t visit             # counts the times that were evaluated
    cdef Updates changes            # changes that the output lacks at the time being evaluated
    cdef Updates answer             # the logic's output
    cdef Updates ordered            # many updates, in the order of their keys
    cdef vector[Candidate] before   # the group without the new input
    cdef vector[Candidate] after    # and with it
    cdef vector[uint64_t] roots     # the roots of a key's new input, ascending
    cdef vector[uint64_t] entry     # scratch: one entry of a history

    def __init__(self, Region region, int row_words, Operator source, int key_words, Logic logic,
                 tuple strings, Partitioner partitioner):
        cdef int words = source.out.row_words - key_words
        Sweeping.__init__(self, region, source, key_words, partitioner)
        self.logic = logic
        self.curves = Curves(key_words, words, logic.out_words, region.depth, strings)
        self.visit = 0
        self.changes = empty_updates(logic.out_words, 0)
        self.answer = empty_updates(logic.out_words, 0)
        self.ordered = empty_updates(source.out.row_words, source.out.time_words)
        self.entry.resize(max(words, logic.out_words) + region.depth + 1, 0)

    def __dealloc__(self):
        release(&self.changes)
        release(&self.answer)
        release(&self.ordered)

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out) + bytes_of(&self.ordered) + self.curves.held_bytes()

    cdef int settle(self) except -1 nogil:
        release(&self.ordered)
        self.rest_agenda()
        return self.curves.settle()

    cdef int take_input(self) except -1 nogil:
        cdef Updates* given = &self.source.out
        cdef Py_ssize_t i, end = 0, asked = 0
        cdef uint32_t place = 0
        if given.length >= MANY_UPDATES:
            given = self._in_order(given)
            self.curves.expect(_keys(given, self.key_words))
        for i in range(given.length):
            if i == asked and given.length > 1:
                asked = min(given.length, i + PREFETCHED)
                self.curves.prefetch(given, i, asked - i)
            if i == end:
                end = self._end_of_key(given, i)
                place = self.curves.touch(update_at(given, i))
                if end - i > 1:
                    self.curves.make_room(place, end - i)
            self._take(place, update_at(given, i), given)
        let_go(self.source)
        return 0

    cdef int take_for_owners(self, const vector[void*]* shards) except -1 nogil:
        cdef void* owners[PREFETCHED]
        cdef Updates* given = &self.source.out
        cdef Py_ssize_t i, first = 0, asked = 0, end = 0
        cdef uint32_t place = 0
        cdef void* owner = NULL
        if given.length >= MANY_UPDATES:
            given = self._in_order(given)
        for i in range(given.length):
            if i == asked:
                first = i
                asked = min(given.length, i + PREFETCHED)
                self._find_owners(given, first, asked - first, shards, owners)
            if i == end:
                end = self._end_of_key(given, i)
                owner = owners[i - first]
                place = (<Reduce> owner).curves.touch(update_at(given, i))
                if end - i > 1:
                    (<Reduce> owner).curves.make_room(place, end - i)
            (<Reduce> owner)._take(place, update_at(given, i), given)
        self.source.out.length = 0      # an exchange, which has no other reader
        return 0

    # Finds the owners of `n` updates from `first` on, and prefetches from their histories.
    cdef void _find_owners(self, const Updates* given, Py_ssize_t first, Py_ssize_t n,
                           const vector[void*]* shards, void** owners) noexcept nogil:
        cdef uint32_t places[PREFETCHED]
        cdef const uint64_t* key
        cdef Py_ssize_t i
        for i in range(n):
            key = update_at(given, first + i)
            owners[i] = shards[0][owner_of(key, shards.size(), self.partitioner)]
            if n > 1:
                places[i] = (<Reduce> owners[i]).curves.groups.prefetch_slot(key)
        for i in range(n if n > 1 else 0):
            places[i] = (<Reduce> owners[i]).curves.groups.prefetch_entry(places[i])
        for i in range(n if n > 1 else 0):
            if places[i] != 0:
                places[i] = (<Reduce> owners[i]).curves.prefetch_touched(places[i])
        for i in range(n if n > 1 else 0):
            if places[i] != 0:
                (<Reduce> owners[i]).curves.prefetch_now(places[i] - 1)

    # The first update from `i` on that has another key than its predecessor.
    cdef inline Py_ssize_t _end_of_key(self, const Updates* given, Py_ssize_t i) noexcept nogil:
        cdef const uint64_t* key = update_at(given, i)
        i += 1
        while i < given.length and compare_words(update_at(given, i), key, self.key_words) == 0:
            i += 1
        return i

    cdef inline int _take(self, uint32_t place, const uint64_t* update,
                          const Updates* given) except -1 nogil:
        cdef int words = self.curves.words, depth = self.region.depth
        cdef uint64_t* entry = self.entry.data()
        memcpy(entry, update + self.key_words, words * sizeof(uint64_t))
        to_sweep(update + given.row_words, entry + words, depth)
        entry[words + depth] = update[given.stride - 1]
        self.curves.add(place, entry)
        self.agenda.add(entry + words, place)
        return 0

    # Consolidates the updates: a key is looked up once, and updates that cancel or agree are one change of
    # its history. Sorting costs a tenth of each of these.
    cdef Updates* _in_order(self, Updates* given) except NULL nogil:
        if self.source.consolidated:
            return given
        if not read_alone(self.source):
            self.ordered.length = 0
            if append(&self.ordered, given.words, given.length) < 0:
                self._no_memory()
            given = &self.ordered
        if consolidate(given) < 0:
            self._no_memory()
        return given

    cdef int evaluate_all(self, const uint64_t* time) except -1 nogil:
        cdef size_t i, n = self.places.size()
        cdef uint32_t place
        cdef Touch* touch
        self.visit += 1
        for i in range(n):
            if i + FAR < n:
                self.curves.prefetch_touch(self.places[i + FAR])
            if i + NEAR < n:
                self.curves.prefetch_histories(self.places[i + NEAR])
            if i + NEXT < n:
                self.curves.prefetch_past(self.places[i + NEXT])
            place = self.places[i]
            touch = touch_at(&self.curves.touches, place)
            if touch.visit == self.visit:
                continue
            touch.visit = self.visit
            self.curves.order(place)
            self._find_changes(touch, time)
            if self.changes.length > 0:
                self._emit(place, time)
            if not less_equal(self.curves.bound(place), time, self.region.depth):
                self._look_ahead(place, time)
        return 0

    # Emits `changes` at `time` and notes them as said.
    cdef int _emit(self, uint32_t place, const uint64_t* time) except -1 nogil:
        cdef const uint64_t* key = self.curves.groups.key(touch_at(&self.curves.touches, place).key)
        cdef Py_ssize_t i
        cdef int words = self.logic.out_words, depth = self.region.depth
        cdef const uint64_t* change
        cdef uint64_t* update
        cdef uint64_t* entry = self.entry.data()
        for i in range(self.changes.length):
            change = self.changes.words + i * self.changes.stride
            update = push(self.into)
            if update == NULL:
                self._no_memory()
            memcpy(update, key, self.key_words * sizeof(uint64_t))
            memcpy(update + self.key_words, change, words * sizeof(uint64_t))
            from_sweep(time, update + self.out.row_words, depth)
            update[self.out.stride - 1] = change[words]
            memcpy(entry, change, words * sizeof(uint64_t))
            memcpy(entry + words, time, depth * sizeof(uint64_t))
            entry[words] = 0                # a sweep does not go back: so what it took back cancels
            entry[words + depth] = change[words]
            self.curves.say(place, entry)
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for a reduction in a loop")

    # --- the times ahead ---

    # Sets a reminder for the first time after `time` at which the key's output would change if no
    # more input came.
    cdef int _look_ahead(self, uint32_t place, const uint64_t* time) except -1 nogil:
        cdef Touch* touch = touch_at(&self.curves.touches, place)
        cdef uint64_t candidate[MAX_COORDINATES]
        cdef int evaluated = 0, considered = 0
        self.curves.find_axes(place)
        self._find_roots(&touch.now)
        memcpy(candidate, time, self.region.depth * sizeof(uint64_t))
        while self._next(&touch.axes, candidate):
            considered += 1
            if considered <= LOOK_OVER:
                if not self._is_join(&touch.axes, candidate):
                    continue
                if _is_settled(&touch.now, self.curves.words, candidate, self.region.depth):
                    if _is_settled(&touch.said, self.logic.out_words, candidate, self.region.depth):
                        continue
                elif evaluated < LOOK_AHEAD:
                    evaluated += 1
                    self._find_changes(touch, candidate)
                    if self.changes.length == 0:
                        continue
            return self.agenda.add(candidate, place)
        return 0

    cdef int _find_roots(self, const Entries* now) except -1 nogil:
        cdef uint32_t i
        cdef size_t place
        cdef uint64_t root
        self.roots.clear()
        for i in range(now.length):
            root = entry_at(now, i, self.curves.stride)[self.curves.stride - 2]
            place = self.roots.size()
            while place > 0 and self.roots[place - 1] > root:
                place -= 1
            if place == 0 or self.roots[place - 1] != root:
                self.roots.insert(self.roots.begin() + place, root)
        return 0

    # Moves `candidate` to the next time of the grid of axes, in the order of the sweep.
    cdef bint _next(self, const Entries* axes, uint64_t* candidate) noexcept nogil:
        cdef int d = self.region.depth - 2, e
        cdef size_t r
        cdef uint32_t i
        cdef const uint64_t* axis
        for r in range(self.roots.size()):
            if self.roots[r] > candidate[d + 1]:
                candidate[d + 1] = self.roots[r]
                return True
        if self.roots.empty():
            return False
        while d >= 0:
            for i in range(axes.length):
                axis = entry_at(axes, i, 4)
                if axis[0] == <uint64_t> d and axis[1] > candidate[d]:
                    candidate[d] = axis[1]
                    for e in range(d + 1, self.region.depth - 1):
                        candidate[e] = _first_on(axes, e)
                    candidate[self.region.depth - 1] = self.roots.front()
                    return True
            d -= 1
        return False

    # False if no time of the history that lies below `candidate` has its coordinate on some axis.
    cdef bint _is_join(self, const Entries* axes, const uint64_t* candidate) noexcept nogil:
        cdef uint32_t i
        cdef const uint64_t* axis
        if self.region.depth != 3:
            return True
        for i in range(axes.length):
            axis = entry_at(axes, i, 4)
            if axis[1] == candidate[axis[0]] and axis[2] > candidate[1 - axis[0]]:
                return False
        return True

    # --- evaluation ---

    # Fills `changes` with the updates that the key's output lacks at `time`.
    cdef int _find_changes(self, const Touch* touch, const uint64_t* time) except -1 nogil:
        cdef int words = self.logic.out_words, stride = words + self.region.depth + 1
        cdef const uint64_t* value
        cdef Py_ssize_t j
        cdef uint32_t i
        self.changes.length = 0
        if self._see(&self.curves.curve(touch.key).past, &touch.now, time):
            self._ask(&self.after, &self.changes)
            self._ask(&self.before, &self.answer)
            for j in range(self.answer.length):
                value = self.answer.words + j * self.answer.stride
                self._subtract(value, value[words])
        for i in range(touch.said.length):
            value = entry_at(&touch.said, i, stride)
            if less_equal(value + words, time, self.region.depth):
                self._subtract(value, value[stride - 1])
        if self.changes.length >= FEW_CHANGES:
            if consolidate(&self.changes) < 0:
                self._no_memory()
        else:
            self._drop_zeros()
        return 0

    cdef int _ask(self, vector[Candidate]* group, Updates* answer) except -1 nogil:
        answer.length = 0
        if not group.empty():
            self.logic.apply(group, answer)
        return 0

    # Fills `before` and `after` with the group's values at `time`, as far as they matter to the
    # logic; False if they are the same.
    cdef bint _see(self, const Entries* past, const Entries* now,
                   const uint64_t* time) except -1 nogil:
        cdef int words = self.curves.words, depth = self.region.depth
        cdef uint32_t i = 0, j = 0
        cdef int order
        cdef int64_t old, new
        cdef bint differs = False
        cdef const uint64_t* value
        cdef Sight without
        cdef Sight with_
        without.total = with_.total = 0
        without.complete = with_.complete = False
        self.before.clear()
        self.after.clear()
        while (i < past.length or j < now.length) and not (without.complete and with_.complete):
            order = self._order(past, i, now, j)
            value = entry_at(past, i, self.curves.stride) if order <= 0 else (
                entry_at(now, j, self.curves.stride))
            old = _count(past, &i, value, words, time, depth) if order <= 0 else 0
            new = sum_of(old, _count(now, &j, value, words, time, depth) if order >= 0 else 0)
            if old != new and (not without.complete or not with_.complete):
                differs = True
            self._admit(&self.before, &without, value, old)
            self._admit(&self.after, &with_, value, new)
            if i < past.length or j < now.length:
                order = self._order(past, i, now, j)
                value = entry_at(past, i, self.curves.stride) if order <= 0 else (
                    entry_at(now, j, self.curves.stride))
                if not without.complete and not self.before.empty():
                    without.complete = self.logic.enough(&self.before, without.total, value)
                if not with_.complete and not self.after.empty():
                    with_.complete = self.logic.enough(&self.after, with_.total, value)
        return differs

    # Compares the next values of the past (-1 if smaller) and the new input (1); 0 if they are equal.
    cdef inline int _order(self, const Entries* past, uint32_t i, const Entries* now,
                           uint32_t j) noexcept nogil:
        if i == past.length:
            return 1
        if j == now.length:
            return -1
        return compare_words(entry_at(past, i, self.curves.stride),
                             entry_at(now, j, self.curves.stride), self.curves.words)

    cdef inline int _admit(self, vector[Candidate]* group, Sight* sight, const uint64_t* value,
                           int64_t count) except -1 nogil:
        cdef Candidate candidate
        if (count > 0 or (count < 0 and self.logic.nets)) and not sight.complete:
            candidate.val = value
            candidate.count = count
            group.push_back(candidate)
            sight.total = sum_of(sight.total, count)
        return 0

    # Subtracts `diff` copies of an output value from `changes`.
    cdef int _subtract(self, const uint64_t* value, uint64_t diff) except -1 nogil:
        cdef Py_ssize_t i
        cdef int words = self.logic.out_words
        cdef uint64_t* change
        negate(&diff)
        if self.changes.length < FEW_CHANGES:
            for i in range(self.changes.length):
                change = self.changes.words + i * self.changes.stride
                if compare_words(change, value, words) == 0:
                    add_to(&change[words], diff)
                    return 0
        change = push(&self.changes)
        if change == NULL:
            self._no_memory()
        memcpy(change, value, words * sizeof(uint64_t))
        change[words] = diff
        return 0

    cdef void _drop_zeros(self) noexcept nogil:
        cdef Py_ssize_t i, kept = 0
        cdef int words = self.logic.out_words
        cdef uint64_t* change
        for i in range(self.changes.length):
            change = self.changes.words + i * self.changes.stride
            if change[words] == 0:
                continue
            if kept != i:
                memcpy(self.changes.words + kept * self.changes.stride, change,
                       self.changes.stride * sizeof(uint64_t))
            kept += 1
        self.changes.length = kept


# The copies of `value` at `time`, whose entries start at `at`; moves on to the next value.
cdef inline int64_t _count(const Entries* entries, uint32_t* at, const uint64_t* value, int words,
                           const uint64_t* time, int depth) noexcept nogil:
    cdef int stride = words + depth + 1
    cdef int64_t count = 0
    cdef const uint64_t* entry
    while at[0] < entries.length:
        entry = entry_at(entries, at[0], stride)
        if compare_words(entry, value, words) != 0:
            break
        if less_equal(entry + words, time, depth):
            count = sum_of(count, <int64_t> entry[stride - 1])
        at[0] += 1
    return count


# True if the entries of every value cancel at `time`.
cdef inline bint _is_settled(const Entries* entries, int words, const uint64_t* time,
                             int depth) noexcept nogil:
    cdef uint32_t i = 0
    while i < entries.length:
        if _count(entries, &i, entry_at(entries, i, words + depth + 1), words, time, depth) != 0:
            return False
    return True


cdef inline uint64_t _first_on(const Entries* axes, int d) noexcept nogil:
    cdef uint32_t i = 0
    while i < axes.length and entry_at(axes, i, 4)[0] != <uint64_t> d:
        i += 1
    return entry_at(axes, i, 4)[1]


# Counts the keys of updates that are sorted.
cdef Py_ssize_t _keys(const Updates* updates, int key_words) noexcept nogil:
    cdef Py_ssize_t i, keys = 1
    for i in range(1, updates.length):
        keys += compare_words(updates.words + (i - 1) * updates.stride,
                              updates.words + i * updates.stride, key_words) != 0
    return keys
