"""A spine of batches: appended at one end, merged so that sizes fall geometrically.

Batches have a class by their size: class 0 below 128 updates, class c from 64 * 2^c on. A layer is merged
with its younger neighbour unless its class is the higher one, so that classes fall strictly along the layers
that are not being merged: there are logarithmically many, and an update is rewritten about once in each
class. Of a million updates, for example, there are at most 14 such layers. With classes that grow by four
there would be a fifth fewer layers, and in a hundred rounds an update would be rewritten an eighth more
often, or a quarter, as their size has it.

No step merges two large batches in one go. A merge in progress leaves its two sources among the
layers, and each sealed update brings EFFORT units of fuel for each merge. This suffices: a merge
whose younger side is of class c moves less than 4 * 64 * 2^c updates, so it is complete before
64 * 2^c updates more have come, in which at most one layer of class c can form behind it. So each
class has at most one merge in progress and few layers that wait, and absorbing a batch of n updates
moves at most EFFORT * n updates, and SMALL, for each class, whatever the trace holds.

With helpers, all merges of many updates are in progress, and their fuel is used up beside the step. One
helper works at each merge. Meanwhile a batch of any size or several small ones may come, whose fuel waits;
with the next one the caller merges what no helper has begun. So no merge has to be split or closed up after
several threads, and the step mostly need not wait. Finished merges are taken over with the next batch, or at
the end of a step, and merges that are due then have fuel again.

Layers of a few updates wait until there are WAITING of them, and are summed then. Most of the cost of a merge
does not depend on the number of updates. Other small layers merge at once with the next batch, so they are
always compacted. A large batch first merges the smaller layers before it with each other, and a first one is
a layer as it is.

Merging compacts times to `since`, which no reader can tell: `since` is at or before the times of all handles
and of the step that runs. Once handles that kept many times distinguishable are gone, a layer may shrink by a
third or more: it is merged with its younger neighbour, whatever their classes. Each such merge is paid for by
the updates that it gets rid of. Shared arrangements (VLDB 2020, section 4.2) merge with fuel likewise.

Rows in the order of their keys need no merging. A large layer of keys and values alone is made with room for
as many again, and later rows are appended there (`append_batch`), whatever the classes. Once the room is used
up such a layer is merged with the one that has outgrown it: this moves as many updates as were appended
since, and the same number of new ones.
"""

cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset
from libcpp.algorithm cimport sort, unique
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates
from ivm.threads.team cimport begin_chore, drop_chore, end_chore, is_over
from ivm.trace.batch cimport (
    MOST_UPDATES, Batch, append_batch, batch_bytes, drop, follows, is_plain, retain, room_behind,
)
from ivm.trace.building.build cimport build_batch, sum_batches
from ivm.trace.merging.merge cimport Merge, finish_merge, free_merge, merge_batches, start_merge, work_merge
from ivm.trace.frontier cimport Antichain
from ivm.trace.times cimport less_equal, meet_into
from ivm.trace.building.build_parallel cimport build_together
from ivm.trace.building.build_unsorted cimport build_unsorted

from ivm.errors import TimeCompacted

cdef extern from *:
    int leading_zeros "__builtin_clzll"(unsigned long long) noexcept nogil

cdef enum:
    CLASS_0 = 128       # a layer of fewer updates merges with any batch that comes
    FEW = 16            # updates of a layer that waits to be summed with others
    WAITING = 8         # layers that are summed
    SMALL = 128         # updates that a merge may move however few were sealed
    EFFORT = 4          # updates that a merge in progress moves for each sealed one
    BASE_EFFORT = 64    # and for each sealed batch
    WORTH_A_HELPER = 1 << 13    # updates that a helper merges
    MOST_COMPACTED = 1 << 22    # updates that are summed on demand
    MOST_UNPAID = 1 << 11       # updates absorbed while helpers are at work; or one batch of any size


@cython.freelist(16)    # they come and go with dataflows
cdef class Trace:
    """A trace is a spine of batches; key, value and time widths are in words.

    `strings` lists the words of (key, value) that hold strings, and whether they are complemented.
    """

    def __cinit__(self, int key_words, int val_words, int time_words, tuple strings):
        self.strings = strings
        self.key_words = key_words
        self.val_words = val_words
        self.time_words = time_words
        self.threads = 1
        self.fresh = NULL
        self.stale = False
        self.closed = False
        self.stage = NULL
        self.chore = NULL
        memset(self.since, 0, sizeof(self.since))

    def __dealloc__(self):
        self.forget()

    cdef void forget(self) noexcept nogil:
        cdef Batch* b
        cdef Merge* m
        if self.chore != NULL:
            drop_chore(self.chore)
            self.chore = NULL
        for m in self.merges:
            free_merge(m)
        self.merges.clear()
        for b in self.layers:
            drop(b)
        for b in self.published:
            drop(b)
        drop(self.fresh)
        self.fresh = NULL
        self.layers.clear()
        self.published.clear()

    cdef int seal(self, const Updates* updates, uint64_t since) except -1 nogil:
        if self.opens(updates.length, since):
            self.begin(build_batch(updates, self.key_words))
        return 0

    cdef int seal_unsorted(self, Updates* updates, uint64_t since) except -1 nogil:
        if self.opens(updates.length, since):
            self.begin(build_unsorted(updates, self.key_words))
        return 0

    cdef int seal_together(self, Part* parts, int count, uint64_t since) except -1 nogil:
        cdef Py_ssize_t updates = 0
        cdef int p
        for p in range(count):
            updates += parts[p].rows.length
        if self.opens(updates, since):
            self.begin(build_together(parts, count, self.key_words, self.threads))
        return 0

    # Absorbs the fresh batch; True if there are `updates` for another one, of which there must not be too
    # many.
    cdef bint opens(self, Py_ssize_t updates, uint64_t since) except -1 nogil:
        self.absorb(since)
        refuse_many(updates)
        return updates > 0

    # Makes `b` the fresh batch and takes over its only reference; NULL says that memory was short.
    cdef int begin(self, Batch* b) except -1 nogil:
        if b == NULL:
            no_memory()
        if b.updates == 0:
            drop(b)
            return 0
        try:
            self.deliver(b)
            self.fresh = b
        finally:
            if self.fresh == NULL:
                drop(b)
        self.stale = True
        return 0

    cdef int adopt(self, Batch* b, uint64_t since) except -1 nogil:
        self.absorb(since)
        self.deliver(b)
        retain(b)
        self.fresh = b
        self.stale = True
        return 0

    # Shows another trace's layers, all of them, as its own: none is merged, so that they cost references.
    cdef int show(self, const vector[Batch*]& history) except -1 nogil:
        cdef size_t i
        self.layers.reserve(history.size())
        for i in range(history.size()):
            retain(history[i])
            self.layers.push_back(history[i])
        self.stale = True
        return 0

    # Gives every subscription a reference to `b`, or none of them.
    cdef int deliver(self, Batch* b) except -1 nogil:
        cdef Mailbox* mailbox
        if self.mailboxes.empty():
            return 0
        self.guard.lock()
        try:
            for mailbox in self.mailboxes:
                if mailbox.sealed.size() == mailbox.sealed.capacity():
                    mailbox.sealed.reserve(2 * mailbox.sealed.size() + 8)
            for mailbox in self.mailboxes:
                mailbox.sealed.push_back(b)
                retain(b)
        finally:
            self.guard.unlock()
        return 0

    cdef int absorb(self, uint64_t since) except -1 nogil:
        cdef Py_ssize_t inserted, left = 0
        if self.fresh == NULL:
            return 0
        self.layers.reserve(self.layers.size() + 1)
        inserted = self.fresh.updates
        self.advance(since)
        if not self.may_go_on(inserted):
            left = self.end_work()
        while self.mergeable() and size_class(
                self.layers[self.layers.size() - 2].updates) < size_class(inserted):
            self.merge_last()
        self.layers.push_back(self.fresh)
        self.fresh = NULL
        self.stale = True
        self.unpaid += inserted
        if inserted > FEW or self.waiting() == WAITING:
            self.merge_small(inserted)
            if self.chore == NULL:
                self.start_merges()
        if self.chore == NULL:
            self.begin_work(max(left, EFFORT * self.unpaid + BASE_EFFORT))
            self.unpaid = 0
        return 0

    # True if helpers are at work, and may go on while `inserted` updates are absorbed.
    cdef bint may_go_on(self, Py_ssize_t inserted) noexcept nogil:
        return (self.chore != NULL and not is_over(self.chore)
                and (self.unpaid == 0 or self.unpaid + inserted <= MOST_UNPAID))

    # Merges the last layers at once as long as they are small beside the inserted updates.
    cdef int merge_small(self, Py_ssize_t inserted) except -1 nogil:
        cdef Py_ssize_t most = SMALL + EFFORT * inserted
        cdef Py_ssize_t own = most if self.threads == 1 else min(most, <Py_ssize_t> WORTH_A_HELPER)
        if inserted <= FEW:
            self.sum_waiting()
        while self.mergeable() and (
                due(self.layers[self.layers.size() - 2], self.layers.back(), own)
                or self.layers.back().updates <= most
                and self.may_append(self.layers[self.layers.size() - 2], self.layers.back())):
            self.merge_last()
        return 0

    # The number of last layers that have few updates, at most WAITING.
    cdef size_t waiting(self) noexcept nogil:
        cdef size_t n = self.layers.size(), i = n
        while i > 0 and n - i < WAITING and self.layers[i - 1].updates <= FEW:
            i -= 1
        return n - i

    # Puts the sum of the last layers in their place, up to the first one that is being merged.
    cdef int sum_waiting(self) except -1 nogil:
        cdef size_t first = self.layers.size() - WAITING, end = first
        cdef Batch* sum
        while end < self.layers.size() and not self.merging(self.layers[end]):
            end += 1
        if end - first < 2:
            return 0
        sum = sum_batches(&self.layers[first], end - first, self.since)
        if sum == NULL:
            no_memory()
        self.replace(first, end - first, sum)
        return 0

    # True if the last two layers may be merged now.
    cdef bint mergeable(self) noexcept nogil:
        cdef size_t n = self.layers.size()
        return (n > 1 and not self.merging(self.layers[n - 1]) and not self.merging(self.layers[n - 2]))

    cdef bint merging(self, const Batch* b) noexcept nogil:
        cdef Merge* m
        for m in self.merges:
            if m.a.b == b or m.b.b == b:
                return True
        return False

    # True if the younger of two neighbours may be appended to the block of the elder. A layer that was
    # written to a checkpoint is not: it would be written again with each append.
    cdef bint may_append(self, const Batch* elder, const Batch* younger) noexcept nogil:
        return (elder.serial == 0 and room_behind(elder) >= younger.keys
                and is_plain(elder, self.since[0]) and is_plain(younger, self.since[0])
                and follows(elder, younger))

    # True if the younger may be appended, but for want of room.
    cdef bint outgrows(self, const Batch* elder, const Batch* younger) noexcept nogil:
        return (0 <= room_behind(elder) < younger.keys
                and is_plain(elder, self.since[0]) and is_plain(younger, self.since[0])
                and follows(elder, younger))

    cdef int merge_last(self) except -1 nogil:
        cdef size_t n = self.layers.size()
        cdef Batch* merged = NULL
        if self.may_append(self.layers[n - 2], self.layers[n - 1]):
            merged = append_batch(self.layers[n - 2], self.layers[n - 1], self.since[0])
        if merged == NULL:
            merged = merge_batches(self.layers[n - 2], self.layers[n - 1], self.since)
        if merged == NULL:
            no_memory()
        self.replace(n - 2, 2, merged)
        return 0

    # Replaces `count` layers from the i-th on by their sum.
    cdef void replace(self, size_t i, size_t count, Batch* merged) noexcept nogil:
        cdef size_t j
        for j in range(i, i + count):
            drop(self.layers[j])
        self.layers[i] = merged
        self.layers.erase(self.layers.begin() + i + 1, self.layers.begin() + i + count)
        if merged.updates == 0:
            drop(merged)
            self.layers.erase(self.layers.begin() + i)
        self.stale = True

    # Starts merges of neighbours that are due, or of which the elder would shrink or the younger outgrows its
    # room, the youngest first. Layers that are being merged are left alone.
    cdef int start_merges(self) except -1 nogil:
        cdef size_t i = self.layers.size()
        cdef Merge* m
        while i > 1:
            i -= 1
            if (not due(self.layers[i - 1], self.layers[i], MOST_UPDATES)
                    and not shrinks(self.layers[i - 1], self.since[0])
                    and not self.outgrows(self.layers[i - 1], self.layers[i])
                    or self.layers[i - 1].updates + self.layers[i].updates > MOST_UPDATES
                    or self.merging(self.layers[i - 1]) or self.merging(self.layers[i])):
                continue
            self.merges.reserve(self.merges.size() + 1)
            m = start_merge(self.layers[i - 1], self.layers[i], self.since)
            if m == NULL:
                no_memory()
            self.merges.push_back(m)
            i -= 1
        return 0

    # Moves `fuel` updates in each merge in progress; many of them beside the step, if there are helpers.
    cdef void begin_work(self, Py_ssize_t fuel) noexcept nogil:
        cdef size_t i
        self.fuel = fuel
        if self.threads > 1 and fuel * <Py_ssize_t> self.merges.size() >= WORTH_A_HELPER:
            self.chore = begin_chore(work_at, <void*> self, self.merges.size(), self.threads)
        if self.chore == NULL:
            for i in range(self.merges.size()):
                work_at(<void*> self, i)
            self.finish_merges()

    # Waits for the merges that helpers have begun, and does the rest. Returns the fuel for merges that are
    # due then: as much again, at most, if a merge is complete.
    cdef Py_ssize_t end_work(self) noexcept nogil:
        if self.chore == NULL:
            return 0
        end_chore(self.chore)
        self.chore = NULL
        return min(self.fuel, EFFORT * self.finish_merges())

    cdef int take_merged(self) except -1 nogil:
        cdef size_t merges = self.merges.size()
        cdef Py_ssize_t fuel
        if self.chore == NULL or not is_over(self.chore):
            return False
        fuel = self.end_work()
        if fuel > 0:
            self.advance(self.since[0])
            self.start_merges()
            self.begin_work(fuel)
        return self.merges.size() < merges or fuel > 0

    # Replaces the sources of finished merges by their results; returns the updates of the largest.
    cdef Py_ssize_t finish_merges(self) noexcept nogil:
        cdef Py_ssize_t largest = 0
        cdef size_t i = 0, at
        cdef Batch* merged
        cdef Merge* m
        while i < self.merges.size():
            m = self.merges[i]
            if m.fuel <= 0:
                i += 1
                continue
            at = 0
            while self.layers[at] != m.a.b:
                at += 1
            self.merges.erase(self.merges.begin() + i)
            merged = finish_merge(m)
            largest = max(largest, merged.updates)
            self.replace(at, 2, merged)
        return largest

    # Advances `since` as far as the holds allow.
    cdef void advance(self, uint64_t root) noexcept nogil:
        cdef uint64_t since[MAX_COORDINATES]
        cdef Hold* hold
        memset(since, 0, sizeof(since))
        since[0] = root
        if self.holds.empty():
            memcpy(self.since, since, sizeof(since))
            return
        self.guard.lock()
        for hold in self.holds:
            if hold.logical:
                meet_into(since, hold.since, self.time_words)
        memcpy(self.since, since, sizeof(since))
        self.guard.unlock()

    cdef Antichain readable(self):
        return Antichain(self.time_words, [tuple([self.since[i] for i in range(self.time_words)])])

    cdef int enter(self, Hold* hold) except -1:
        self.guard.lock()
        try:
            self.holds.push_back(hold)
        finally:
            self.guard.unlock()
        return 0

    cdef int move(self, Hold* hold, bint logical, const uint64_t* since) except -1:
        if logical and not less_equal(self.since, since, self.time_words):
            raise TimeCompacted(f"the trace can be read as of {list(self.readable())} or later only")
        self.guard.lock()
        hold.logical = logical
        if logical:
            memcpy(hold.since, since, self.time_words * sizeof(uint64_t))
        self.guard.unlock()
        self.release_unread()
        return 0

    cdef void leave(self, Hold* hold) noexcept:
        cdef size_t i
        self.guard.lock()
        for i in range(self.holds.size()):
            if self.holds[i] == hold:
                self.holds.erase(self.holds.begin() + i)
                break
        self.guard.unlock()
        self.release_unread()

    cdef void release_unread(self) noexcept:
        cdef Hold* hold
        cdef bint read = not self.closed
        self.guard.lock()
        for hold in self.holds:
            read |= hold.logical
        self.guard.unlock()
        if not read:
            self.forget()

    def compact(self, uint64_t since) -> bool:
        """Sum all batches, between two steps, as of root time `since`, unless they are large; whether they were.

        Afterwards no two updates of a row are there whose times no handle tells apart.
        """
        cdef Py_ssize_t updates = 0
        cdef Batch* b
        cdef Batch* sum
        if self.fresh != NULL:
            self.absorb(since)
        self.end_work()
        for b in self.layers:
            updates += b.updates
        if updates == 0 or updates > MOST_COMPACTED or not self.merges.empty():
            return False
        self.advance(since)
        sum = sum_batches(self.layers.data(), self.layers.size(), self.since)
        if sum == NULL:
            no_memory()
        self.replace(0, self.layers.size(), sum)
        return True

    def close(self) -> None:
        """Close the trace to writers: it is released once no handle is left.

        Nothing may be sealed afterwards.
        """
        self.closed = True
        self.release_unread()

    cdef int subscribe(self, Mailbox* mailbox) except -1:
        cdef Batch* b
        self.guard.lock()
        try:
            self.mailboxes.push_back(mailbox)
            mailbox.history.assign(self.layers.begin(), self.layers.end())
            if self.fresh != NULL:
                mailbox.history.push_back(self.fresh)
        except BaseException:
            if not self.mailboxes.empty() and self.mailboxes.back() == mailbox:
                self.mailboxes.pop_back()
            raise
        finally:
            self.guard.unlock()
        for b in mailbox.history[0]:
            retain(b)
        return 0

    cdef void unsubscribe(self, Mailbox* mailbox) noexcept:
        cdef size_t i
        self.guard.lock()
        for i in range(self.mailboxes.size()):
            if self.mailboxes[i] == mailbox:
                self.mailboxes.erase(self.mailboxes.begin() + i)
                break
        self.guard.unlock()

    cdef int prepare(self) except -1:
        if self.stale:
            self.upcoming.assign(self.layers.begin(), self.layers.end())
            if self.fresh != NULL:
                self.upcoming.push_back(self.fresh)
        return 0

    # Most steps change the last few layers only: references to those before are kept as they are.
    cdef void publish(self) noexcept:
        cdef size_t i, same = 0
        if not self.stale:
            return
        while (same < self.published.size() and same < self.upcoming.size()
                and self.published[same] == self.upcoming[same]):
            same += 1
        for i in range(same, self.upcoming.size()):
            retain(self.upcoming[i])
        for i in range(same, self.published.size()):
            drop(self.published[i])
        self.published.swap(self.upcoming)
        self.upcoming.clear()
        self.stale = False

    cdef int held(self, vector[Batch*]* into) except -1 nogil:
        cdef vector[Batch*] batches
        cdef Mailbox* mailbox
        batches.assign(self.layers.begin(), self.layers.end())
        if self.fresh != NULL:
            batches.push_back(self.fresh)
        batches.insert(batches.end(), self.published.begin(), self.published.end())
        self.guard.lock()
        try:
            for mailbox in self.mailboxes:
                batches.insert(batches.end(), mailbox.history.begin(), mailbox.history.end())
                batches.insert(batches.end(), mailbox.sealed.begin(), mailbox.sealed.end())
        finally:
            self.guard.unlock()
        sort(batches.begin(), batches.end())
        batches.erase(unique(batches.begin(), batches.end()), batches.end())
        into.swap(batches)
        return 0

    cdef size_t held_bytes(self) noexcept nogil:
        cdef size_t bytes = 0 if self.fresh == NULL else batch_bytes(self.fresh)
        cdef Batch* b
        cdef Merge* m
        for b in self.layers:
            bytes += batch_bytes(b)
        for m in self.merges:
            bytes += batch_bytes(m.a.b) + batch_bytes(m.b.b)    # as large as its sources, at most
        return bytes

    def account(self) -> tuple[int, int]:
        """Updates held and bytes of memory of the published batches."""
        cdef Py_ssize_t records = 0
        cdef size_t memory = 0
        cdef Batch* b
        for b in self.published:
            records += b.updates
            memory += batch_bytes(b)
        return records, memory

    def unmerged(self) -> int:
        """Updates of the published batches but for the largest, into which merges move them."""
        cdef Py_ssize_t records = 0, largest = 0
        cdef Batch* b
        for b in self.published:
            records += b.updates
            largest = max(largest, b.updates)
        return records - largest


# Works at a trace's i-th merge.
cdef void work_at(void* context, Py_ssize_t i) noexcept nogil:
    work_merge((<Trace> context).merges[i], (<Trace> context).fuel)


cdef int refuse_many(Py_ssize_t updates) except -1 nogil:
    if updates > MOST_UPDATES:
        with gil:
            raise OverflowError(f"an arrangement takes at most {MOST_UPDATES} updates at once")
    return 0


cdef int no_memory() except -1 nogil:
    with gil:
        raise MemoryError("no memory for a batch of an arrangement")


cdef inline int size_class(Py_ssize_t updates) noexcept nogil:
    cdef unsigned long long units = updates // CLASS_0
    return 0 if units == 0 else 64 - leading_zeros(units)


# True if two neighbours are to be merged, and are at most `most` updates together.
cdef inline bint due(const Batch* elder, const Batch* younger, Py_ssize_t most) noexcept nogil:
    return (size_class(elder.updates) <= size_class(younger.updates)
            and elder.updates + younger.updates <= most)


# True if merging a layer leaves at most two thirds of its updates: times up to `since` become one.
cdef inline bint shrinks(const Batch* b, uint64_t since) noexcept nogil:
    return b.time_words == 1 and 2 * b.updates >= 3 * b.vals and newest(b) <= since


# The greatest root coordinate among a batch's times, which ascend.
cdef inline uint64_t newest(const Batch* b) noexcept nogil:
    return b.times[(b.time_count - 1) * b.time_words]
