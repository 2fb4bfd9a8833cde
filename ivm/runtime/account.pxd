# Accounts of the work of stages and loops, kept while they run.
#
# Rows are counted always. Time is taken of what is worth it, activations of many updates, and of all
# activations in some steps, for which those of few updates stand: see `Region.weight`.

from libc.stdint cimport uint64_t
from posix.time cimport CLOCK_MONOTONIC, clock_gettime, timespec

from ivm.operators.base.operator cimport Region

cdef extern from *:
    int leading_zeros "__builtin_clzll"(unsigned long long) noexcept nogil

cdef enum:
    WORTH_TIMING = 1024     # updates of an activation from which on reading the clock costs nothing beside it
    ROUND_CLASSES = 16      # of rounds: 0, 1, 2 to 3, 4 to 7, and so on; the last one has no end


# The time of a stage, since it was built; `step_…` of the last step that was timed.
cdef struct Account:
    uint64_t nanoseconds    # estimated
    uint64_t step           # the lower bound of its times + 1, or 0
    uint64_t step_rows
    uint64_t step_nanoseconds


# Of a loop: what it did before the last step in which it ran, and what it did in that one.
cdef struct RoundAccount:
    uint64_t rounds
    uint64_t most           # in one step
    uint64_t last           # number of the last round that it had reached
    uint64_t variables      # rows that its names have put out
    uint64_t step           # the lower bound of its times + 1, or 0
    uint64_t step_last
    uint64_t step_rounds_of[ROUND_CLASSES]      # rounds that ran, by class,
    uint64_t step_updates_of[ROUND_CLASSES]     # and the changes of the loop's names that they began with


cdef inline uint64_t nanoseconds_now() noexcept nogil:
    cdef timespec now
    clock_gettime(CLOCK_MONOTONIC, &now)
    return <uint64_t> now.tv_sec * 1000000000 + <uint64_t> now.tv_nsec


# Whether work on so many updates is to be timed.
cdef inline bint is_timed(Region region, Py_ssize_t updates) noexcept nogil:
    return updates >= WORTH_TIMING or region.weight > 0


# Adds the time since `began` of work on so many updates, which was to be timed.
cdef inline void add_time(Account* account, Region region, uint64_t began, Py_ssize_t updates) noexcept nogil:
    cdef uint64_t spent = nanoseconds_now() - began
    account.nanoseconds += spent if updates >= WORTH_TIMING else spent * <uint64_t> region.weight
    if account.step == region.lower + 1:
        account.step_nanoseconds += spent


# The same of an activation, which has put out so many rows.
cdef inline void add_activation(Account* account, Region region, uint64_t began, Py_ssize_t updates,
                                Py_ssize_t rows) noexcept nogil:
    if account.step != region.lower + 1:
        account.step = region.lower + 1
        account.step_rows = account.step_nanoseconds = 0
    account.step_rows += <uint64_t> rows
    add_time(account, region, began, updates)


# The class of a round.
cdef inline int class_of(uint64_t round) noexcept nogil:
    return 0 if round == 0 else <int> min(64 - leading_zeros(round), ROUND_CLASSES - 1)


# Adds a round, until which the loop's names have put out so many rows.
cdef inline void add_round(RoundAccount* account, Region region, uint64_t round, uint64_t variables) noexcept nogil:
    cdef int number = class_of(round)
    if account.step != region.lower + 1:
        end_step_of(account)
        account.step = region.lower + 1
    account.step_last = max(account.step_last, round)
    account.step_rounds_of[number] += 1
    account.step_updates_of[number] += variables - account.variables
    account.variables = variables


# Adds what was done in the last step to what was done before it.
cdef inline void end_step_of(RoundAccount* account) noexcept nogil:
    cdef uint64_t rounds = 0
    cdef int i
    for i in range(class_of(account.step_last) + 1):
        rounds += account.step_rounds_of[i]
        account.step_rounds_of[i] = account.step_updates_of[i] = 0
    account.rounds += rounds
    account.most = max(account.most, rounds)
    account.last = max(account.last, account.step_last)
    account.step_last = 0
