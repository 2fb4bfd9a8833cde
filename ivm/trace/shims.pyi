from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.trace.spine import Trace
from ivm.trace.subscription import Subscription

def consolidated(array: NDArray[np.uint64], row_words: int) -> NDArray[np.uint64]:
    """The updates sorted by (row, time) with equal ones added up and none zero."""

def dealt(
    parts: Sequence[tuple[NDArray[np.uint64], bool]],
    row_words: int,
    key: Sequence[int],
    layout: Layout,
    interner: Interner,
    shards: int,
) -> list[NDArray[np.uint64]]:
    """The updates of each shard, from (updates, negated) of `parts` by their columns `key`."""

def seal(trace: Trace, array: NDArray[np.uint64], since: int) -> None:
    """Seal the consolidated updates as the trace's fresh batch."""

def seal_unsorted(trace: Trace, array: NDArray[np.uint64], since: int) -> None:
    """Seal the updates, in any order, as the trace's fresh batch."""

def seal_together(trace: Trace, arrays: Sequence[NDArray[np.uint64]], since: int) -> None:
    """Seal the updates of all arrays, in any order, as the trace's fresh batch, by its threads."""

def seal_bare(trace: Trace, arrays: Sequence[NDArray[np.uint64]], time: int, since: int) -> None:
    """Seal bare rows as the trace's fresh batch: of several arrays, by its threads."""

def share(trace: Trace, threads: int) -> None:
    """Let so many threads seal and merge many updates."""

def absorb(trace: Trace, since: int) -> None:
    """Move the fresh batch into the layers."""

def publish(trace: Trace) -> None:
    """Let readers see the layers."""

def layers(trace: Trace) -> list[NDArray[np.uint64]]:
    """The updates of each layer, the oldest first, and at last of the fresh batch."""

def published(trace: Trace) -> list[NDArray[np.uint64]]:
    """The updates of each published batch."""

def held(trace: Trace) -> tuple[int, int]:
    """The number and bytes of the batches that are still of use."""

def as_of(trace: Trace, time: Sequence[int]) -> dict[tuple[int, ...], int]:
    """The collection of the layers as of `time`: the count of each (key, value)."""

def sought(trace: Trace, keys: Trace) -> tuple[list[int], list[int]]:
    """The positions in the first layer of `trace` of the keys of `keys`' first layer, or -1.

    Once by galloping, and once by probes.
    """

def history(subscription: Subscription) -> list[NDArray[np.uint64]]:
    """The updates of each batch of a subscription's history."""

def take(subscription: Subscription) -> list[NDArray[np.uint64]]:
    """The updates of each batch sealed since the last call."""

def import_into(subscription: Subscription, trace: Trace, since: int) -> None:
    """Adopt the history, then all that was sealed since the last call, into another trace."""
