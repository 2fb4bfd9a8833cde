"""The graphs that static analyses read, of generated source code.

A program is functions of a few variables each. Most statements stay within a function; calls pass
values to the parameters of others, mostly of those that come next, and take their results.
"""

import numpy as np
from numpy.typing import NDArray

from benchmarks.inputs import SEED, Pairs

VARIABLES = 16  # of a function: parameters come first, its result last
PARAMETERS = 3
CALLS = 2  # of a function at most, each of which passes a value and takes the result
CALLING = 0.5  # the share of functions that make each call
NEAR = 50  # a function calls one of so many that follow it
NULLS = 0.03  # of the variables
KINDS = (0.40, 0.15, 0.15, 0.20)
"""The shares of `y = x`, `y = *p`, `*p = x` and `p = &x`; the rest passes a value in a call."""

Words = NDArray[np.int64]


def null_flow(functions: int) -> list[Pairs]:
    """Nulls with the variables that they are assigned to, and assignments from and to.

    Within a function every variable is assigned one that came before it.
    """
    random = np.random.default_rng(SEED)
    count = functions * VARIABLES
    variables = np.arange(count)
    inner = variables[variables % VARIABLES >= PARAMETERS]
    assigned = [(_earlier(inner, random), inner)]
    for _ in range(CALLS):
        callers = _some(functions, CALLING, random)
        called = (callers + random.integers(1, NEAR, len(callers))) % functions
        passed = callers * VARIABLES + random.integers(0, VARIABLES, len(callers))
        parameter = called * VARIABLES + random.integers(0, PARAMETERS, len(callers))
        taken = callers * VARIABLES + random.integers(PARAMETERS, VARIABLES, len(callers))
        assigned += [(passed, parameter), ((called + 1) * VARIABLES - 1, taken)]
    nulls = random.permutation(_some(count, NULLS, random))
    return [_pairs([(np.arange(len(nulls)), nulls)]), _pairs(assigned)]


def pointers(functions: int) -> list[Pairs]:
    """Assignments to and from, and dereferences: of a pointer, and the memory that it points to.

    Variable v has the number v, what it points to `count` + v, and its address 2 `count` + v.
    """
    random = np.random.default_rng(SEED)
    count = functions * VARIABLES
    statements = random.choice(len(KINDS) + 1, count, p=[*KINDS, 1 - sum(KINDS)])
    first = np.arange(count)
    other = first // VARIABLES * VARIABLES + random.integers(0, VARIABLES, count)
    copy, load, store, address, call = (statements == kind for kind in range(len(KINDS) + 1))
    called = (first // VARIABLES + random.integers(1, NEAR, count)) % functions
    parameter = called * VARIABLES + random.integers(0, PARAMETERS, count)
    assigned = [
        (first[copy], other[copy]),
        (first[load], count + other[load]),
        (count + other[store], first[store]),
        (first[address], 2 * count + other[address]),
        (parameter[call], first[call]),
    ]
    dereferenced = np.union1d(other[load], other[store])
    addressed = np.unique(other[address])
    dereferences = [(dereferenced, count + dereferenced), (2 * count + addressed, addressed)]
    return [_pairs(assigned), _pairs(dereferences)]


def _earlier(variables: Words, random: np.random.Generator) -> Words:
    """For each variable one of its function that came before it."""
    within = variables % VARIABLES
    return variables - within + (random.random(len(variables)) * within).astype(np.int64)


def _some(count: int, share: float, random: np.random.Generator) -> Words:
    return np.flatnonzero(random.random(count) < share)


def _pairs(parts: list[tuple[Words, Words]]) -> Pairs:
    joined = np.concatenate([np.stack(part, axis=1) for part in parts])
    return np.unique(joined, axis=0).astype(np.uint32)
