"""`ivm view operators`, and `ivm explain --analyze`: a view's plan with what each part has cost."""

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Column, Table

from api.plan_tree import Line, rounds_text, tree
from api.terminal import AsJson, connected, out, print_json
from ivm_client.service import path


def operators(
    name: Annotated[str, typer.Argument(help="The view.")],
    json: AsJson = False,
) -> None:
    """The operators of a view: rows, bytes and time of each, and the rounds of its loops."""
    with connected() as service:
        found = service.get(path("views", name, "operators"))
    if json:
        print_json(found)
    else:
        out.print(_table(found))


def _table(found: dict[str, Any]) -> Table:
    """The tree of a plan beside its figures: in all, and of the last step that was timed."""
    figures = ("rows", "bytes", "ms", "step: rows", "step: ms")
    columns = [Column(figure, justify="right", no_wrap=True) for figure in figures]
    table = Table(Column("operator", overflow="fold"), *columns)
    for line in tree(found):
        table.add_row(escape("  " * line.depth + line.text), *_figures(line))
        if line.account is not None and line.account.get("rounds"):
            indent = "  " * (line.depth + 1)
            table.add_row(escape(indent + rounds_text(line.account["rounds"])), style="dim")
    return table


def _figures(line: Line) -> list[str]:
    account = line.account
    if account is None:
        return []
    step = account.get("step")
    return [
        *(_count(account["rows"]), _count(account["bytes"]), _milliseconds(account["seconds"])),
        *((_count(step["rows"]), _milliseconds(step["seconds"])) if step else ()),
    ]


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}"


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.3f}"
