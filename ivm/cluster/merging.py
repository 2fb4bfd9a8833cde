"""Merging: the parts of an answer that members give, of the rows that each owns, put together."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.results import (
    ArrangementInfo,
    Deltas,
    Found,
    LoopInfo,
    OperatorInfo,
    Operators,
    ReusedInfo,
    RoundClass,
    Snapshot,
    Spent,
)

_Errors = tuple[pa.RecordBatch, NDArray[np.uint64], NDArray[np.int64]]


def deltas(parts: Sequence[Deltas]) -> Deltas:
    """The changes of all members, in the order that `Deltas` promises.

    Equal rows are of one member, but equal errors may be of several.
    """
    some = [part for part in parts if len(part.diffs) or len(part.error_diffs)]
    if len(some) < 2:
        return some[0] if some else parts[0]
    times = np.concatenate([part.times for part in parts])
    diffs = np.concatenate([part.diffs for part in parts])
    order = np.lexsort((diffs > 0, times))
    rows = _rows([part.rows for part in parts]).take(order)
    return Deltas(rows, times[order], diffs[order], *_errors(parts))


def none_of(some: Deltas) -> Deltas:
    """No changes, of the same columns."""
    nothing = some.times[:0], some.diffs[:0]
    return Deltas(some.rows.slice(0, 0), *nothing, some.errors.slice(0, 0), *nothing)


def snapshot(parts: Sequence[Snapshot]) -> Snapshot:
    """The rows of all members, which have completed the same time."""
    counts = np.concatenate([part.counts for part in parts])
    errors = sum(part.errors for part in parts)
    return Snapshot(parts[0].time, _rows([part.rows for part in parts]), counts, errors)


def arrangements(parts: Sequence[Sequence[ArrangementInfo]]) -> list[ArrangementInfo]:
    """The accounts of the same arrangements and states of all members, which list them alike."""
    return [
        replace(
            alike[0],
            records=sum(info.records for info in alike),
            bytes=sum(info.bytes for info in alike),
            seconds=_sum([info.seconds for info in alike]),
        )
        for alike in zip(*parts, strict=True)
    ]


class MemberShare(NamedTuple):
    """The share of a member, a process of `host`; see `ivm.cluster.lending.Share`."""

    member: int
    host: str
    process: int
    records: int
    bytes: int
    string_bytes: int
    process_bytes: int
    meetings: int
    blocks: int
    sent_bytes: int
    received_rows: int


def found(parts: Sequence[Found]) -> Found:
    """The rows of all members with each of the same keys, which form the same groups."""
    owners = np.concatenate([part.owners for part in parts])
    order = np.argsort(owners, kind="stable")
    rows = _rows([part.rows for part in parts]).take(order)
    counts = np.concatenate([part.counts for part in parts])[order]
    return Found(rows, counts, owners[order], parts[0].order, parts[0].starts)


def operators(parts: Sequence[Operators]) -> Operators:
    """The accounts of the same operators of all members."""
    return Operators(
        tuple(map(_reused, zip(*(part.reused for part in parts), strict=True))),
        tuple(map(_operator, zip(*(part.operators for part in parts), strict=True))),
    )


def spent(parts: Sequence[Spent]) -> Spent:
    """What a dataflow has cost on all members, which run the same rounds."""
    return Spent(sum(part.seconds for part in parts), max(part.rounds for part in parts))


def counted(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """The rows of collections, by name, of all members together."""
    return {name: sum(part[name] for part in parts) for name in parts[0]}


def _operator(alike: Sequence[OperatorInfo]) -> OperatorInfo:
    """The account of one operator; its last step is that of the member it took longest."""
    steps = [info.step for info in alike if info.step is not None]
    rows = [info.rows for info in alike if info.rows is not None]
    loops = [info.rounds for info in alike if info.rounds is not None]
    return replace(
        alike[0],
        rows=sum(rows) if rows else None,
        bytes=sum(info.bytes for info in alike),
        seconds=sum(info.seconds for info in alike),
        step=max(steps, key=lambda step: step.seconds, default=None),
        rounds=_loop(loops) if loops else None,
    )


def _loop(alike: Sequence[LoopInfo]) -> LoopInfo:
    """The account of one loop: the changes of all members, in the rounds of the one that ran most.

    A member counts the rounds in which it had work.
    """
    classes: dict[int, RoundClass] = {}
    for each in chain.from_iterable(info.classes for info in alike):
        so_far = classes.get(each.first, replace(each, rounds=0, changes=0))
        rounds, changes = max(so_far.rounds, each.rounds), so_far.changes + each.changes
        classes[each.first] = replace(each, rounds=rounds, changes=changes)
    return LoopInfo(
        max(info.rounds for info in alike),
        max(info.most_rounds for info in alike),
        max(info.last_round for info in alike),
        max(info.step_rounds for info in alike),
        max(info.step_last_round for info in alike),
        tuple(classes[first] for first in sorted(classes)),
    )


def _reused(alike: Sequence[ReusedInfo]) -> ReusedInfo:
    return ReusedInfo(
        alike[0].name,
        sum(info.rows for info in alike),
        sum(info.bytes for info in alike),
        sum(info.seconds for info in alike),
        tuple(dict.fromkeys(chain.from_iterable(info.users for info in alike))),
    )


def _sum(seconds: Sequence[float | None]) -> float | None:
    there = [each for each in seconds if each is not None]
    return sum(there) if there else None


def _rows(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of all `batches`, as one."""
    whole = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return whole[0] if whole else batches[0]


def _errors(parts: Sequence[Deltas]) -> _Errors:
    """The errors of all members, with the diffs of equal ones added up."""
    found: Counter[tuple[int, str]] = Counter()
    for part in parts:
        texts = [str(text) for text in part.errors.column(0).to_pylist()]
        for text, time, diff in zip(texts, part.error_times, part.error_diffs, strict=True):
            found[int(time), text] += int(diff)
    there = sorted((time, diff > 0, text, diff) for (time, text), diff in found.items() if diff)
    said = pa.array([text for _, _, text, _ in there], pa.string())
    batch = pa.RecordBatch.from_arrays([said], schema=parts[0].errors.schema)
    times = np.array([time for time, *_ in there], np.uint64)
    return batch, times, np.array([diff for *_, diff in there], np.int64)
