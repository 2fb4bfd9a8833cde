"""Ordered reduce, at the root: the logic may stop early (top-k, min, max, distinct, percentiles).

At time t emit L(A_t) − L(A_{<t}), with L the logic and A the group's accumulated values. Root times are
totally ordered, so the old output is the logic of the old input: no output is stored. A group's values are
walked in order through all batches at once, for the state before and after together, until the logic needs no
more of both.

A walk is long where many of the first values are gone, or begin alike and must be compared by content. Its
useless visits are the group's debt; once that has reached half the number of its values, the group gets a
`Ranking`, which costs about as much again and from then on a logarithm for each update. So a group never pays
much more than the better of the two. A ranking whose group is small goes at the end of the step: until then it
is what spares each time of the step a walk through all that the step puts in and takes out.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.reductions.touched_groups cimport Run, TouchedGroups, add_counts
from ivm.operators.base.state_table cimport Groups
from ivm.operators.aggregates.aggregate cimport Logic
from ivm.operators.base.operator cimport Reader, Region
from ivm.operators.aggregates.ordering cimport Candidate
from ivm.operators.aggregates.order_statistics cimport Ranking
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.rows.updates cimport Updates, bytes_of, empty_updates, push, release
from ivm.trace.batch cimport diff_of, first_update, time_of, val_at
from ivm.trace.counts cimport sum_of
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words

cdef enum:
    SMALL = 256         # values of a group, below which any walk is short
    FREE_VISITS = 64    # of a walk, beside those to the values wanted before and after
    REBUILD_SHARE = 8   # from one update for so many values of a walk on a ranking is made anew


cdef class Select(TouchedGroups):
    """Reduces each group of `reader`'s trace to key words, then the output words of `logic`.

    `partitioner` finds the shard of a group by the trace's key.
    """

    cdef readonly Groups debts          # state: useless visits, then the address of the ranking or 0
    cdef Logic logic
    cdef dict rankings                  # by entry of `debts`
    cdef vector[Run] walked
    cdef vector[Candidate] before
    cdef vector[Candidate] after
    cdef Updates news                   # (time, value) of the present key, ascending, if it is ranked
    cdef Py_ssize_t taken               # of those, the number that are in the ranking
    cdef Updates changes                # output values of one group at one time

    def __init__(self, Region region, int row_words, Reader reader, Partitioner partitioner,
                 Logic logic):
        self.seeks = self.owns = self.keeps = True
        self.reader = reader
        self.partitioner = partitioner
        self.logic = logic
        self.debts = Groups(reader.trace.key_words, 2, tuple(
            (word, flipped) for word, flipped in reader.trace.strings
            if word < reader.trace.key_words))
        self.rankings = {}
        self.news = empty_updates(reader.trace.val_words + 1, 0)
        self.changes = empty_updates(logic.out_words, 0)

    def __dealloc__(self):
        release(&self.news)
        release(&self.changes)

    def account(self) -> tuple[int, int]:
        """Values in rankings, and bytes of memory of these and of the groups' debts.

        It may be called beside a step.
        """
        records, memory = 0, self.debts.account()[1]
        for ranking in list(self.rankings.values()):
            length, more = ranking.account()
            records += length
            memory += more
        return records, memory

    cdef size_t held_bytes(self) noexcept nogil:
        with gil:
            return bytes_of(&self.out) + <size_t> self.account()[1]

    # Emits the changes of `key`, time by time.
    cdef int change_key(self, const uint64_t* key) except -1 nogil:
        cdef uint64_t time
        cdef void* ranking = NULL
        if self._has_debts():
            ranking = self._ranking(key)
        if ranking != NULL:
            self._collect_news()
        for time in self.times:
            if ranking == NULL and not self._walk(key, time):
                ranking = self._rank(key, time)
                self._collect_news()
            self._change(key, time, ranking)
        if ranking != NULL and (<Ranking> ranking).length < SMALL // 2:
            self._forget(key)
        return 0

    # Emits the difference at `time`: of `after` and `before`, or, with a ranking, of its output before and
    # after its update.
    cdef int _change(self, const uint64_t* key, uint64_t time, void* ranking) except -1 nogil:
        cdef Py_ssize_t i, middle
        cdef uint64_t* update
        self.changes.length = 0
        if ranking == NULL:
            self.logic.apply(&self.before, &self.changes)
            middle = self.changes.length
            self.logic.apply(&self.after, &self.changes)
        else:
            self.logic.apply_ranked(<Ranking> ranking, &self.before, &self.changes)
            middle = self.changes.length
            self._take_news(ranking, time)
            self.logic.apply_ranked(<Ranking> ranking, &self.after, &self.changes)
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

    # --- walking ---

    # Fills `before` and `after` with the group's values just before `time` and at it. False where that took
    # so long that the group should be ranked.
    cdef bint _walk(self, const uint64_t* key, uint64_t time) except -1 nogil:
        cdef const uint64_t* val
        cdef int64_t old, new, total_before = 0, total_after = 0
        cdef bint done_before = False, done_after = False
        cdef Py_ssize_t visits = 0, free = self.size, allowed = self.size
        if self.size > SMALL and self.logic.wanted < self.size // 2:
            free = FREE_VISITS + 2 * <Py_ssize_t> self.logic.wanted
            allowed = free + self.size // 2 - self._debt(key)
        self.before.clear()
        self.after.clear()
        self.walked.assign(self.runs.begin(), self.runs.end())
        while not (done_before and done_after):
            val = self._next(time, &old, &new)
            if val == NULL:
                break
            visits += 1
            if visits > allowed:
                return False
            if old > 0 and not done_before:
                done_before = self._add(&self.before, val, old, &total_before)
            if new > 0 and not done_after:
                done_after = self._add(&self.after, val, new, &total_after)
        if visits > free:
            self._add_debt(key, visits - free)
        elif self.after.empty() and self._has_debts():
            self._forget(key)
        return True

    # The next value of the walk, with its counts just before `time` and at it; NULL after the last.
    cdef const uint64_t* _next(self, uint64_t time, int64_t* old, int64_t* new) noexcept nogil:
        cdef const uint64_t* val = NULL
        cdef size_t i
        cdef Run* run
        cdef int words = self.reader.trace.val_words
        for i in range(self.walked.size()):
            run = &self.walked[i]
            if run.val < run.end and (
                    val == NULL or compare_words(val_at(run.batch, run.val), val, words) < 0):
                val = val_at(run.batch, run.val)
        old[0] = 0
        new[0] = 0
        if val == NULL:
            return NULL
        for i in range(self.walked.size()):
            run = &self.walked[i]
            if run.val < run.end and compare_words(val_at(run.batch, run.val), val, words) == 0:
                add_counts(run, time, self.region.lower, old, new)
                run.val += 1
        return val

    cdef bint _add(self, vector[Candidate]* group, const uint64_t* val, int64_t count,
                   int64_t* total) except -1 nogil:
        cdef Candidate candidate
        if not group.empty() and self.logic.enough(group, total[0], val):
            return True
        candidate.val = val
        candidate.count = count
        group.push_back(candidate)
        total[0] = sum_of(total[0], count)
        return False

    # --- ranking ---

    # Finds the shard that keeps a group's debt and ranking.
    cdef inline void* _keeper(self, const uint64_t* key) noexcept nogil:
        if self.everyone == NULL:
            return <void*> self
        return self.everyone[0][owner_of(key, self.everyone.size(), self.partitioner)]

    # True if any group has a debt.
    cdef inline bint _has_debts(self) noexcept nogil:
        cdef size_t s
        if self.everyone == NULL:
            return self.debts.used > 0
        for s in range(self.everyone.size()):
            if (<Select> self.everyone[0][s]).debts.used > 0:
                return True
        return False

    # The number of useless visits of the group's walks.
    cdef Py_ssize_t _debt(self, const uint64_t* key) noexcept nogil:
        cdef void* keeper = self._keeper(key)
        cdef uint32_t debt = (<Select> keeper).debts.look_up(key)
        return <Py_ssize_t> (<Select> keeper).debts.state(debt - 1)[0] if debt != 0 else 0

    cdef int _add_debt(self, const uint64_t* key, Py_ssize_t visits) except -1 nogil:
        cdef void* keeper = self._keeper(key)
        cdef uint32_t entry = (<Select> keeper).debts.find(key)
        (<Select> keeper).debts.state(entry)[0] += <uint64_t> visits
        return 0

    # The group's ranking, or NULL.
    cdef void* _ranking(self, const uint64_t* key) noexcept nogil:
        cdef void* keeper = self._keeper(key)
        cdef uint32_t debt = (<Select> keeper).debts.look_up(key)
        if debt == 0:
            return NULL
        return <void*> <uintptr_t> (<Select> keeper).debts.state(debt - 1)[1]

    # Makes a ranking of the group just before `time`.
    cdef void* _rank(self, const uint64_t* key, uint64_t time) except NULL nogil:
        cdef void* keeper = self._keeper(key)
        cdef uint32_t entry = (<Select> keeper).debts.find(key)
        cdef void* address
        with gil:
            ranking = Ranking(self.logic.ordering)
            (<Select> keeper).rankings[entry] = ranking
            address = <void*> ranking
        (<Select> keeper).debts.state(entry)[1] = <uint64_t> <uintptr_t> address
        self._fill(address, time, False)
        return address

    # Drops the debt and the ranking of the group, which is small or empty now.
    cdef int _forget(self, const uint64_t* key) except -1 nogil:
        cdef void* keeper = self._keeper(key)
        cdef uint32_t debt = (<Select> keeper).debts.look_up(key)
        if debt == 0:
            return 0
        if (<Select> keeper).debts.state(debt - 1)[1] != 0:
            with gil:
                del (<Select> keeper).rankings[debt - 1]
        (<Select> keeper).debts.remove(debt - 1)
        return 0

    # Fills the ranking with the group as it is at `time`, or was just before.
    cdef int _fill(self, void* ranking, uint64_t time, bint at_time) except -1 nogil:
        cdef Candidate candidate
        cdef int64_t old, new
        self.after.clear()
        self.walked.assign(self.runs.begin(), self.runs.end())
        while True:
            candidate.val = self._next(time, &old, &new)
            if candidate.val == NULL:
                break
            candidate.count = new if at_time else old
            if candidate.count != 0:
                self.after.push_back(candidate)
        self.logic.ordering.sort(&self.after)
        return (<Ranking> ranking).fill(&self.after)

    # Fills `news` with the new updates of the present key.
    cdef int _collect_news(self) except -1 nogil:
        cdef Run run
        cdef Py_ssize_t v, u
        cdef uint64_t* update
        self.news.length = 0
        self.taken = 0
        for run in self.runs:
            if not run.is_new:
                continue
            for v in range(run.val, run.end):
                for u in range(first_update(run.batch, v), first_update(run.batch, v + 1)):
                    update = push(&self.news)
                    if update == NULL:
                        self._no_memory()
                    update[0] = max(time_of(run.batch, u)[0], self.region.lower)
                    memcpy(update + 1, val_at(run.batch, v), run.batch.val_words * sizeof(uint64_t))
                    update[self.news.stride - 1] = <uint64_t> diff_of(run.batch, u)
        if consolidate(&self.news) < 0:
            self._no_memory()
        return 0

    # Advances the ranking from just before `time` to it.
    cdef int _take_news(self, void* ranking, uint64_t time) except -1 nogil:
        cdef Py_ssize_t i, first, stride = self.news.stride
        while self.taken < self.news.length and self.news.words[self.taken * stride] < time:
            self.taken += 1
        first = self.taken
        while self.taken < self.news.length and self.news.words[self.taken * stride] == time:
            self.taken += 1
        if (self.taken - first) * REBUILD_SHARE > self.size:
            return self._fill(ranking, time, True)
        for i in range(first, self.taken):
            (<Ranking> ranking).add(self.news.words + i * stride + 1,
                                    <int64_t> self.news.words[(i + 1) * stride - 1])
        return 0
