"""Comparing two sides: answers first, then times."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.comparison import Setting, compare_answers, measure, results
from benchmarks.errors import BenchmarkError
from benchmarks.report import as_json, draw
from benchmarks.sides import OURS, PEERS, Case, Run, parse
from benchmarks.workload import Phase, Scale, Workload, each_once

WORKLOAD = Workload(
    "bfs", {"small": Scale(lambda path: None, ())}, lambda path, workers, phases: iter(())
)
SETTING = Setting(WORKLOAD, "small", 1, Path())


def runs(ours: list[int], theirs: list[int]) -> dict[str, list[Run]]:
    return {
        name: [Run([Case("load", [ns], 5, 6, 7)]) for ns in times]
        for name, times in (("ivm", ours), ("differential", theirs))
    }


def test_answers_that_differ_name_the_workload_and_the_case() -> None:
    different = runs([1], [1])
    different["differential"][0].cases[0] = Case("load", [1], 5, 60, 7)
    with pytest.raises(BenchmarkError, match=r"bfs, case 'load'.*\(5, 6, 7\).*\(5, 60, 7\)"):
        compare_answers("bfs", different)


def test_the_number_of_differences_is_part_of_the_answer() -> None:
    different = runs([1], [1])
    different["differential"][0].cases[0] = Case("load", [1], 5, 6, 70)
    with pytest.raises(BenchmarkError, match="the answers differ"):
        compare_answers("bfs", different)


def test_a_peer_that_computes_anew_has_the_same_rows_and_tells_no_differences() -> None:
    anew = runs([1], [1])
    anew["differential"][0].cases[0] = Case("load", [1], 5, 6, None)
    compare_answers("bfs", anew)
    anew["differential"][0].cases[0] = Case("load", [1], 5, 60, None)
    with pytest.raises(BenchmarkError, match="the answers differ"):
        compare_answers("bfs", anew)


def test_a_ratio_is_of_the_medians_and_above_one_where_ours_is_faster() -> None:
    (result,) = results(SETTING, runs([1000, 2000, 9000], [8000, 4000, 1000]))
    assert (result.unit, result.ours, result.peer, result.ratio) == ("µs", 2, 4, 2)


def test_without_a_peer_there_is_no_ratio() -> None:
    (result,) = results(SETTING, {"ivm": runs([5], [])["ivm"]})
    assert (result.ours, result.peer_name, result.peer, result.ratio) == (5, None, None, None)


def test_many_rounds_show_median_mean_and_p99() -> None:
    case = Case("one", [100] * 99 + [10_000], 0, 0, 0)
    found = results(SETTING, {"ivm": [Run([case])]})
    assert [r.case for r in found] == ["one, median", "one, mean", "one, p99"]


def test_json_has_the_published_keys() -> None:
    (written,) = json.loads(as_json(results(SETTING, runs([1], [2]))))
    assert written == {
        "workload": "bfs",
        "case": "load",
        "scale": "small",
        "workers": 1,
        "unit": "ns",
        "ours": 1,
        "peer_name": "differential",
        "peer": 2,
        "ratio": 2,
    }


REHEARSING = """
import json, sys
for number, phase in enumerate(sys.argv[4:]):
    if phase == "--":
        print(json.dumps({"rehearsed": True}))
        continue
    case, rounds = phase.split(":")[:2]
    rows = int(rounds)
    print(json.dumps({"case": case, "ns": [number], "rows": rows, "sum": 1, "differences": 1}))
"""


def test_a_rehearsal_is_not_measured() -> None:
    phases = (Phase("first", 7, 1, 1), Phase("second", 0, 0, 1))
    workload = replace(WORKLOAD, scales={"small": Scale(lambda path: None, phases)})
    setting = Setting(workload, "small", 1, Path())
    command = [sys.executable, "-c", REHEARSING]
    (run,) = measure(setting, {OURS: command}, 1, lambda side: None)["ivm"]
    assert run.cases == [Case("first", [3], 7, 1, 1), Case("second", [4], 0, 1, 1)]


def test_a_rehearsal_takes_one_round_of_every_phase() -> None:
    phases = [Phase("many", 7, 1, 3), Phase("none", 0, 0, 0), Phase("open", 2, 1, 5, rate=9)]
    assert each_once(phases) == [
        Phase("many", 1, 1, 3),
        Phase("none", 0, 0, 0),
        Phase("open", 1, 1, 5, rate=9),
    ]


def test_beside_itself_it_loads_several_times() -> None:
    program = """
import json, sys
parts = " ".join(sys.argv[4:]).split("--")
for number, part in enumerate(parts):
    if number == 1:
        print(json.dumps({"rehearsed": True}))
    for course in range(2):
        print(json.dumps({"course": course}))
        for case in ["load", *(phase.split(":")[0] for phase in part.split())]:
            print(json.dumps({"case": case, "ns": [number], "rows": 1, "sum": 1, "differences": 1}))
"""
    workload = replace(
        WORKLOAD, scales={"small": Scale(lambda path: None, (Phase("many", 7, 1, 1),))}
    )
    command = [sys.executable, "-c", program]
    setting = Setting(workload, "small", 2, Path())
    runs = measure(setting, {OURS: command, PEERS["ivm"]: command}, 1, lambda side: None)
    for (run,) in runs.values():
        rounds = {case.name: case.nanoseconds for case in run.cases}
        assert rounds == {"load": [1, 2, 3, 4], "many": [4]}


def test_a_load_that_gives_another_answer_is_refused() -> None:
    line = {"case": "load", "ns": [1], "rows": 2, "sum": 3, "differences": 4}
    lines = [line, {**line, "ns": [2], "sum": 30}]
    with pytest.raises(BenchmarkError, match=r"'load' gave \(2, 3, 4\) first.*\(2, 30, 4\)"):
        parse("\n".join(map(json.dumps, lines)))


def test_a_side_that_cannot_rehearse_is_asked_for_what_is_measured_only() -> None:
    phases = (Phase("first", 7, 1, 1),)
    workload = replace(WORKLOAD, scales={"small": Scale(lambda path: None, phases)})
    setting = Setting(workload, "small", 1, Path())
    command = [sys.executable, "-c", REHEARSING]
    (run,) = measure(setting, {PEERS["dbsp"]: command}, 1, lambda side: None)["dbsp"]
    assert run.cases == [Case("first", [0], 7, 1, 1)]


def test_beside_itself_it_runs_with_one_worker() -> None:
    program = """
import json, sys
for course, workers in enumerate(map(int, sys.argv[3].split(","))):
    print(json.dumps({"course": course}))
    print(json.dumps({"case": "load", "ns": [workers], "rows": 1, "sum": 1, "differences": 1}))
"""
    workload = replace(WORKLOAD, scales={"small": Scale(lambda path: None, ())})
    setting = Setting(workload, "small", 2, Path())
    command = [sys.executable, "-c", program]
    runs = measure(setting, {OURS: command, PEERS["ivm"]: command}, 1, lambda side: None)
    assert [run.cases[0].nanoseconds for (run,) in runs.values()] == [[2], [1]]


def test_a_side_prints_cases_and_the_memory_of_a_row() -> None:
    (run,) = parse(
        '{"case": "load", "ns": [1], "rows": 2, "sum": 3, "differences": 4}\n'
        '{"bytes": 40, "records": 2}\n'
    )
    assert run == Run([Case("load", [1], 2, 3, 4)], 20)


def test_cases_belong_to_the_course_that_goes_on() -> None:
    lines = [
        {"course": 1},
        {"case": "load", "ns": [9], "rows": 9, "sum": 9, "differences": 9},
        {"rehearsed": True},
        {"course": 0},
        {"case": "load", "ns": [1], "rows": 2, "sum": 3, "differences": 4},
        {"course": 1},
        {"case": "load", "ns": [5], "rows": 2, "sum": 3, "differences": 4},
    ]
    assert parse("\n".join(map(json.dumps, lines)), 2) == [
        Run([Case("load", [1], 2, 3, 4)]),
        Run([Case("load", [5], 2, 3, 4)]),
    ]


def test_the_chart_is_of_latencies_that_all_sides_have(tmp_path: Path) -> None:
    case = Case("one edge", [100, 200, 300], 0, 0, 0)
    both = {"ivm": [Run([case])], "differential": [Run([case])]}
    assert draw({"bfs": both}, tmp_path / "chart.svg")
    assert "bfs: one edge" in (tmp_path / "chart.svg").read_text()


def test_there_is_no_chart_without_latencies(tmp_path: Path) -> None:
    assert not draw({"bfs": runs([1], [1])}, tmp_path / "chart.svg")


def test_a_phase_is_its_text() -> None:
    phase = Phase("open loop", 1, 2, 3, rate=4)
    assert Phase.parse(str(phase)) == phase
