cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libcpp.vector cimport vector

from ivm.memory.slab cimport Slab
from ivm.operators.aggregates.linear cimport Accumulation
from ivm.operators.base.state_table cimport Groups
from ivm.operators.reductions.sorted_entries cimport Entries
from ivm.rows.updates cimport Updates, update_at


# The history of one key between steps. All of it lies at root 0.
cdef struct History:
    Entries past        # round and state, ascending
    uint64_t touched    # 1 + the place of its `Stir`, or 0

# The changes of one key in the present step, and its sums up to the round that was evaluated last.
cdef struct Stir:
    uint32_t key        # its entry among the groups
    uint32_t summed     # entries of the past that are in the sums
    uint32_t taken      # and entries of `now`
    uint32_t last       # the entry of `now` that was added to last
    uint64_t visit      # the visit that evaluated it last
    uint64_t reached    # 1 + the round that was evaluated last, or 0
    Entries now         # round, root and state of the new input, ascending
    Entries sums        # root and state: of the past, then of the new input up to each root
    Entries said        # root and value of the output's changes so far, and a diff


cdef inline Stir* stir_at(const Updates* stirs, uint32_t place) noexcept nogil:
    return <Stir*> update_at(stirs, place)


# Histories of states hold for each key by how much its group's state changes in each round.
@cython.final
cdef class StateHistories:
    cdef readonly Groups groups
    cdef Accumulation logic
    cdef int words              # of a state
    cdef Updates stirs          # of this step, bare: a `Stir` each
    cdef Slab slab              # the memory of all entries
    cdef size_t settled         # keys that were touched since histories were put side by side
    cdef Py_ssize_t records     # entries of all histories
    cdef Py_ssize_t room        # bytes of these, to be read beside a step
    cdef vector[uint64_t] scratch
    cdef Updates answer         # the logic's output
    cdef History* history(self, uint32_t key) noexcept nogil
    # The place in `stirs` of `key`; made if this step did not touch it yet.
    cdef uint32_t touch(self, const uint64_t* key) except? 0xFFFFFFFF nogil
    # Adds `diff` copies of a value at a sweep time of a touched key; True if the key is to be evaluated then.
    cdef bint add(self, uint32_t place, const uint64_t* time, const uint64_t* value, int64_t diff) except? -1 nogil
    # Fills `changes` with the updates that the key's output lacks at `time`; times must not go back.
    cdef int find_changes(self, uint32_t place, const uint64_t* time, Updates* changes) except -1 nogil
    # Notes changes of the output at `time` as said.
    cdef int say(self, uint32_t place, const uint64_t* time, const Updates* changes) except -1 nogil
    # Moves `time`, which was evaluated last, to the next one at which the output would change if no more
    # input came; False if there is none.
    cdef bint find_next(self, uint32_t place, uint64_t* time) noexcept nogil
    # Prefetches for touching and adding to the keys of `n` <= ASKED updates from `first` on.
    cdef void prefetch(self, const Updates* updates, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    # Prefetches what the history of an entry (plus 1) leads to, for adding to it.
    cdef void prefetch_history(self, uint32_t entry) noexcept nogil
    # Prefetches a stir; then its entries, and its key's history; then the past that is next.
    cdef void prefetch_stir(self, uint32_t place) noexcept nogil
    cdef void prefetch_entries(self, uint32_t place) noexcept nogil
    cdef void prefetch_past(self, uint32_t place) noexcept nogil
    # Merges the new input into the past, at the end of a step.
    cdef int settle(self) except -1 nogil
    cdef size_t held_bytes(self) noexcept nogil
    cdef uint64_t* _new_entry(self, Stir* stir, uint32_t place, const uint64_t* time) except NULL nogil
    cdef int _advance(self, Stir* stir, uint64_t round) except -1 nogil
    cdef int _take(self, Stir* stir, uint64_t root, const uint64_t* state) except -1 nogil
    cdef uint32_t _sum_from(self, Stir* stir, uint64_t root) except 0 nogil
    cdef uint32_t _sum_at(self, const Stir* stir, uint64_t root) noexcept nogil
    cdef int _open_sums(self, Stir* stir) except -1 nogil
    cdef bint _is_zero(self, const uint64_t* state) noexcept nogil
    cdef int _put(self, const uint64_t* state, uint64_t diff, Updates* changes) except -1 nogil
    cdef int _change(self, Updates* changes, const uint64_t* value, uint64_t diff) except -1 nogil
    cdef int _absorb(self, History* history, const Entries* now) except -1 nogil
    cdef uint32_t _merge(self, const Entries* past, const Entries* now) except? 0xFFFFFFFF nogil
    cdef void _release_stir(self, Stir* stir) noexcept nogil
    cdef void _pack(self) noexcept nogil
    cdef int _no_memory(self) except -1 nogil
