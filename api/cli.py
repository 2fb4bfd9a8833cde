"""`ivm`: the command line of the service."""

from pathlib import Path
from typing import Annotated

import orjson
import typer
from rich.console import Console

from api.demo.run import run_demo
from api.serve import serve as run_service
from api.settings import Settings

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def main() -> None:
    """Views over change data capture, kept exactly up to date."""


@app.command()
def serve() -> None:
    """Run the service; it is configured by ivm.toml and IVM_* variables."""
    run_service(Settings())


@app.command()
def demo(
    changes: Annotated[
        int, typer.Option(min=2_000, help="Changes before the paced phase.")
    ] = 500_000,
    json: Annotated[Path | None, typer.Option(help="Also write the figures to this file.")] = None,
) -> None:
    """Maintain five views through a kill, and verify them with DuckDB; fails on a mismatch."""
    report = run_demo(changes, Console())
    if json is not None:
        json.write_bytes(orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2))
    raise typer.Exit(0 if report.is_verified else 1)
