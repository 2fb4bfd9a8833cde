"""The demo's report: a figure beyond its bound is marked as missed."""

from io import StringIO

from rich.console import Console

from api.demo.report import Report


def shown(report: Report) -> list[str]:
    """The lines of the report."""
    text = StringIO()
    report.show(Console(file=text, width=120))
    return text.getvalue().splitlines()


def test_a_figure_beyond_its_bound_is_marked() -> None:
    report = Report(changes_per_second=99_000, latency_p99=1.5, fifth_view_ms=201, lookup_p50_ms=3)
    missed = [line.split("│")[1].strip() for line in shown(report) if "missed" in line]
    assert missed == [
        "changes/s, end to end",
        "record to delta at 0 changes/s, p99",
        "fifth view registered while data flows",
    ]


def test_a_report_within_all_bounds_has_no_mark() -> None:
    report = Report(changes_per_second=100_000, latency_p99=1.0, fifth_view_ms=200, seconds=300)
    assert not [line for line in shown(report) if "missed" in line]
