"""The page `/console/plots`: throughput and latency over the last hour."""

from typing import Any

from nicegui import ui

from api.console.access import Access
from api.console.frame import frame
from api.console.history import LOOK_SECONDS, History


def install(access: Access) -> None:
    """Add the page."""

    @ui.page("/plots")
    def page() -> None:
        with frame("Plots"):
            throughput = _plot("Throughput, a second", ("records in", "changes out"))
            latency = _plot(
                "Latency, ms", ("latency: median", "latency: 99%", "batch: 99%"), is_log=True
            )

            def refresh() -> None:
                _fill(access.history, throughput, latency)

            ui.timer(LOOK_SECONDS, refresh)


def _fill(history: History, throughput: ui.echart, latency: ui.echart) -> None:
    found = history.stretches()
    _show(
        throughput,
        [
            [(1000 * s.moment, s.records) for s in found],
            [(1000 * s.moment, s.deltas) for s in found],
        ],
    )
    quantiles = [
        [(1000 * s.moment, s.latency_median) for s in found],
        [(1000 * s.moment, s.latency_p99) for s in found],
        [(1000 * s.moment, s.batch_p99) for s in found],
    ]
    _show(
        latency,
        [[(at, None if v is None else 1000 * v) for at, v in line] for line in quantiles],
    )


def _show(plot: ui.echart, lines: list[list[tuple[float, float | None]]]) -> None:
    for series, line in zip(plot.options["series"], lines, strict=True):
        series["data"] = line
    plot.update()


def _plot(title: str, names: tuple[str, ...], *, is_log: bool = False) -> ui.echart:
    options: dict[str, Any] = {
        "title": {"text": title, "left": 0, "textStyle": {"fontSize": 14}},
        "legend": {"right": 10, "top": 0},
        "tooltip": {"trigger": "axis"},
        "animation": False,
        "grid": {"left": 70, "right": 30, "top": 40, "bottom": 30},
        "xAxis": {"type": "time"},
        "yAxis": {"type": "log" if is_log else "value"},
        "series": [
            {"name": name, "type": "line", "showSymbol": False, "data": []} for name in names
        ],
    }
    return ui.echart(options).classes("full-width plot")
