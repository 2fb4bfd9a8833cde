"""Nexmark through Kafka: its events and messages, results that are folded, answers and the page."""

import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from api.models import SourceBody
from benchmarks.bounds import Machine
from benchmarks.streams.events import PARTITIONS, TABLES, Events, events
from benchmarks.streams.outputs import Fold, Latest, Sums
from benchmarks.streams.page import as_json, draw, page
from benchmarks.streams.queries import QUERIES, Query, same
from benchmarks.streams.run import Figure, Found
from benchmarks.streams.systems import PEERS, declaration, text
from connectors.decode import decode
from connectors.records import Records

EVENTS = 2_000
EDGES = {-1 - number for number in range(2 * PARTITIONS)}


@pytest.fixture(scope="module")
def given() -> Events:
    return events(EVENTS)


def test_events_are_the_same_each_time(given: Events) -> None:
    assert events(EVENTS) == given


def test_of_50_events_one_is_a_person_and_three_are_auctions(given: Events) -> None:
    counts = {table: given.count(table) - 2 * PARTITIONS for table in TABLES}
    assert counts == {"person": 40, "auction": 120, "bid": 1_840}


@pytest.mark.parametrize("table", TABLES)
def test_messages_say_the_rows_of_their_table(table: str, given: Events) -> None:
    values = [value for _, value in given.messages(table)]
    spec = SourceBody.model_validate(declaration(table, "run")).spec(table, "stall")
    found = decode(Records(values, range(len(values)), 0), spec)
    assert found.rejected == ()
    rows = given.batch(table)
    assert found.rows.select(rows.column_names).to_pylist() == rows.to_pylist()


@pytest.mark.parametrize("table", TABLES)
def test_each_partition_begins_and_ends_with_a_record_of_its_own(table: str, given: Events) -> None:
    for partition in range(PARTITIONS):
        values = [json.loads(value) for p, value in given.messages(table) if p == partition]
        times = [value["date_time"] for value in values]
        assert times == sorted(times)
        assert values[0]["id"] == -1 - PARTITIONS - partition
        assert times[0] + 60_000 < times[1]
        assert times[-2] + 60_000 <= given.closing <= times[-1]


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_an_answer_has_the_records_at_both_ends_of_each_partition(
    query: Query, given: Events
) -> None:
    rows = query.answer(given)
    assert {value for row in rows for value in row if value in EDGES} == EDGES
    assert set(query.closed(rows, given.closing)) <= set(rows)
    if query.window is not None:
        assert len(query.closed(rows, given.closing)) <= len(rows) - PARTITIONS


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_our_view_answers_what_is_asked(query: Query, given: Events) -> None:
    with duckdb.connect() as judge:
        for table in query.tables:
            judge.register(table, given.batch(table))
        rows = judge.execute(f"SELECT {', '.join(query.columns)} FROM ({text(query)})").fetchall()
    assert same(rows, query.answer(given))


def line(**members: object) -> bytes:
    return json.dumps(members).encode()


@pytest.mark.parametrize(
    ("fold", "messages", "rows"),
    [
        (Sums, [line(a=1, b=2), line(a=1, b=2), line(a=3, b=4)], [(1, 2), (1, 2), (3, 4)]),
        (Sums, [line(a=1, b=2, diff=1, time=0), line(a=1, b=2, diff=-1, time=2)], []),
        (
            Sums,
            [
                line(op="+", diff=1, time=0, row={"a": 1, "b": 2}),
                line(frontier=0, offsets={}),
                line(op="-", diff=-1, time=1, row={"a": 1, "b": 2}),
                line(op="+", diff=1, time=1, row={"a": 1, "b": 3}),
            ],
            [(1, 3)],
        ),
        (Latest, [line(a=1, b=2), line(a=1, b=3)], [(1, 3)]),
        (Latest, [line(rows=[{"a": 1, "b": 2}, {"a": 1, "b": 3}])], [(1, 2), (1, 3)]),
        (Latest, [line(a=1, b=2), None], []),
    ],
)
def test_messages_are_folded_to_rows(
    fold: Callable[[list[str]], Fold], messages: list[bytes | None], rows: list[tuple[int, int]]
) -> None:
    folded = fold(["a", "b"])
    for message in messages:
        folded.take(b"1", message)
    assert folded.rows() == rows


def test_a_frontier_changes_no_rows() -> None:
    assert not Sums(["a"]).take(None, line(frontier=1, offsets={}))


def test_averages_are_the_same_but_for_their_last_digits() -> None:
    assert same([(2, 1.0), (1, 0.1 + 0.2)], [(1, 0.3), (2, 1.0)])
    assert not same([(1, 0.3001)], [(1, 0.3)])
    assert not same([(1, 0.3), (1, 0.3)], [(1, 0.3)])


def test_the_page_has_each_peer_beside_ours(tmp_path: Path) -> None:
    figures = [
        Figure(system, query.name, 1_000, seconds, held, 1.5, 7)
        for query in QUERIES
        for system, seconds, held in (("ivm", 0.5, 1 << 30), ("Flink", 2.0, 3 << 30))
    ]
    found = Found("tiny", 0.25, figures, 90.0)
    chart = tmp_path / "streams.svg"
    draw(found, chart)
    text = page(found, Machine("a processor", 2, None, None, ()), chart.name)
    assert "| q4 | 1,000 | 2,000 | 500 (4) |" in text
    assert "| q4 | 1,000 | 1,024 | 3,072 (3) |" in text
    assert "| geometric mean | |  | (4) |" in text
    assert PEERS["pathway"].about not in text
    assert "Flink" in chart.read_text()
    assert json.loads(as_json(found))["figures"][0]["system"] == "ivm"
