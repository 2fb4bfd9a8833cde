"""Differences in each round: those that the engine has, and sums that follow from them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from benchmarks.course import batch
from benchmarks.mentions import stream
from benchmarks.rewiring import EDGES, edges
from benchmarks.rounds import Spread, changed, curves, figure, page, spread
from benchmarks.wcc import both_ways, labels
from ivm.dataflow.nodes import EnterAt, Iterate, Node, Reduce, Union
from ivm.pool import Pool

MENTIONS, LEAVING, COMING, *_ = stream(60, 150, 3)
SLID = np.concatenate([MENTIONS[3:], COMING])


def at_once(node: Iterate) -> Iterate:
    """Labels that all enter at once, not small ones first."""
    ((name, body),) = node.bindings
    assert isinstance(body, Reduce)
    assert isinstance(body.input, Union)
    entering, *along = body.input.inputs
    assert isinstance(entering, EnterAt)
    return replace(node, bindings=((name, replace(body, input=Union((entering.input, *along)))),))


def after_rounds(node: Iterate, count: int) -> set[tuple[int, int]]:
    pool = Pool()
    pool.create_input("edges", EDGES, ["src"])
    pool.feed("edges", batch(MENTIONS, EDGES), np.ones(len(MENTIONS), np.int64), 0)
    pool.advance(1)
    bounded: Node = replace(node, max_rounds=count, stops=True)
    pool.install("labels", bounded, ["node"])
    return {(row["node"], row["label"]) for row in pool.scan("labels").rows.to_pylist()}


def test_incremental_differences_are_those_between_the_engines_rounds() -> None:
    node = at_once(labels(edges, [both_ways(edges)]))
    counts = spread(MENTIONS, prioritised=False).counts()
    states = [set[tuple[int, int]](), *(after_rounds(node, n + 1) for n in range(len(counts)))]
    assert counts == [len(old ^ new) for old, new in pairwise(states)]
    assert sum(counts) > 100


def test_prioritised_labels_end_as_incremental_ones_with_fewer_differences() -> None:
    found = curves(MENTIONS, SLID)
    assert sum(found["one second"]) < sum(found["prioritised"]) < sum(found["incremental"])
    assert found["stateless"] == [len(np.unique(MENTIONS))] * len(found["incremental"])


def test_nothing_changes_where_the_window_stays() -> None:
    found = spread(MENTIONS, prioritised=True)
    assert sum(changed(found, found)) == 0


def test_what_changes_from_nothing_is_everything() -> None:
    after = spread(MENTIONS, prioritised=True)
    assert sum(changed(Spread(), after)) == sum(after.counts())


def test_the_page_has_the_sums() -> None:
    found = figure("tiny")
    written = page(found, "tiny", "rounds.svg")
    assert (
        f"| prioritised | {len(found['prioritised'])} | {sum(found['prioritised']):,} |" in written
    )
