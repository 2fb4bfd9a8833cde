"""Connects commands to the service that the settings point to, and to the terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape
from rich.table import Column, Table

from api.client import ServiceClient
from api.errors import located
from api.settings import Settings
from ivm.errors import IvmError

out = Console(emoji=False)  # what is shown is as it is, and `:bug:` no picture


@contextmanager
def plain_errors() -> Iterator[None]:
    """Tell callers' errors in a line instead of a traceback."""
    try:
        yield
    except (IvmError, OSError, ValueError) as error:
        told = str(error)
        if isinstance(error, ValidationError):
            told = f"settings: {located(error.errors())}"
        Console(stderr=True).print(f"[red]error:[/] {escape(told)}", soft_wrap=True)
        raise typer.Exit(1) from error


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
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        client = ServiceClient(f"http://{host}:{settings.port}")
        try:
            yield client
        finally:
            client.close()


def print_json(document: Any) -> None:
    """A document, indented and coloured where the terminal can."""
    out.print_json(data=document)


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
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
