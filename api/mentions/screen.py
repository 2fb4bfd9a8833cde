"""The live terminal: the window, its largest components and their hashtags, latencies and lag."""

from collections.abc import Callable
from datetime import UTC, datetime

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.table import Table

from api.mentions.board import Board

SHOWN = 12
BAR = 30  # characters
MS = 1000


class Screen:
    """Draws the board; `window` and `arrow` are set by whoever moves the window."""

    def __init__(self, board: Board, name: Callable[[int], str]) -> None:
        self._board = board
        self._name = name
        self.window = range(1)
        self.arrow = " "

    def __rich__(self) -> RenderableType:
        title = f"{_moment(self.window[0])} – {_moment(self.window[-1])}  {self.arrow}"
        return Panel(Group(self._components(), self._figures()), title=title)

    def _components(self) -> Table:
        table = Table("component", box=None, expand=True)
        for name in ("members", "top hashtag", "uses", ""):
            table.add_column(name, justify="right" if name in ("members", "uses") else "left")
        largest = self._board.largest(SHOWN)
        for component, members, tag, uses in largest:
            bar = "█" * max(BAR * members // largest[0][1], 1)
            shown = "" if uses is None else f"{uses:,}"
            named = escape(self._name(component)), f"{members:,}", escape(tag or "")
            table.add_row(*named, shown, bar)
        for _ in range(SHOWN - len(largest)):
            table.add_row("")
        return table

    def _figures(self) -> Table:
        board = self._board
        table = Table(box=None, expand=True)
        figures = {
            "components": f"{board.components:,}",
            "mentions": f"{board.mentions:,}",
            "deltas": f"{board.deltas:,}",
            "latency p50": f"{board.quantile(0.5) * MS:,.0f} ms",
            "latency p99": f"{board.quantile(0.99) * MS:,.0f} ms",
            "lag": f"{board.lag} s",
        }
        for name in figures:
            table.add_column(name, justify="right")
        table.add_row(*figures.values())
        return table


def _moment(second: int) -> str:
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S}"
