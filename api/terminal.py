"""Connects commands to the service that the settings point to, and to the terminal.

With `--json` a command writes the service's answer to stdout, or a line of JSON for each row. What
is wrong, and how far a wait has come, goes to stderr.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Column, Table

from api.errors import located
from api.settings import Settings
from ivm.errors import IvmError
from ivm_client.errors import ClientError, Unreachable
from ivm_client.service import ServiceClient

WIDE = 240  # characters of a line of what is piped on, for lines that `grep` finds whole

# What is shown is as it is, and `:bug:` no picture.
out = Console(emoji=False, width=None if sys.stdout.isatty() else WIDE)

# For what is wrong, and for how far a wait has come.
notes = Console(stderr=True, emoji=False)

AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]

# Exit codes; 2 is that of a command that is not written as its help says.
FAILED, UNREACHABLE = 1, 3


@contextmanager
def plain_errors() -> Iterator[None]:
    """Tell callers' errors in a line instead of a traceback, and fail with their exit code."""
    try:
        yield
    except (IvmError, ClientError, OSError, ValueError) as error:
        told = str(error)
        if isinstance(error, ValidationError):
            told = f"settings: {located(error.errors())}"
        notes.print(f"[red]error:[/] {escape(told)}", soft_wrap=True)
        code = UNREACHABLE if isinstance(error, Unreachable) else FAILED
        raise typer.Exit(code) from error


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Add the name of a file to the error of its contents (raises ValueError)."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


@contextmanager
def connected() -> Iterator[ServiceClient]:
    """The service that the settings point to."""
    with plain_errors():
        settings = Settings()
        key = settings.api_key.get_secret_value() if settings.api_key is not None else None
        client = ServiceClient(settings.url, key=key, ca=settings.tls_certificate)
        try:
            yield client
        finally:
            client.close()


def print_json(document: Any) -> None:
    """A document, indented and coloured where the terminal can."""
    out.print_json(data=document)


def print_line(document: Any) -> None:
    """A document on one line of JSON, as one of many."""
    out.print(orjson.dumps(document).decode(), markup=False, highlight=False, soft_wrap=True)


def print_answer(answer: dict[str, Any], *, as_json: bool) -> None:
    """An answer as JSON, or each of its members that has a value on a line."""
    if as_json:
        print_json(answer)
        return
    for name, value in answer.items():
        if value not in (None, [], {}):
            print_member(name, _cell(value))


def progress() -> Progress:
    """The progress of what is waited for, on stderr where that is a terminal."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    return Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal)


def print_table(rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    """The members `columns` of each row, whole: a name may be needed for the next command."""
    table = Table(*(Column(name, overflow="fold") for name in columns))
    for row in rows:
        table.add_row(*(escape(_cell(row[column])) for column in columns))
    out.print(table)


def print_member(name: str, value: str) -> None:
    """A value after its name, on a line that is as long as it is."""
    out.print(f"[bold]{escape(name)}[/] {escape(value)}", soft_wrap=True)


def _cell(value: Any) -> str:
    """A value for people: a list by its members, columns as they are declared."""
    match value:
        case list():
            return ", ".join(map(_cell, value))
        case {"name": str(name), "type": str(kind), "nullable": bool(nullable)}:
            return f"{name} {kind}" if nullable else f"{name} {kind} not null"
        case dict():
            return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
        case _:
            return str(value)
