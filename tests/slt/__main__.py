"""The command line: run files, let PostgreSQL write their rows, write the table of support."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from tests.postgres import judging
from tests.slt.run import rewritten, run
from tests.slt.script import FILES, BadScript, read
from tests.slt.support import PAGE, page, scripts


def main(
    files: Annotated[list[Path] | None, typer.Argument(help="default: all")] = None,
    rewrite: Annotated[bool, typer.Option(help="PostgreSQL's rows instead of the files'")] = False,
    table: Annotated[bool, typer.Option(help="write docs/sql.md")] = False,
) -> None:
    """Run files, or write what the options say."""
    if table:
        PAGE.write_text(page(scripts()))
        return
    failed = False
    with tempfile.TemporaryDirectory() as shared, judging(Path(shared)) as judge:
        for path in files or sorted(FILES.glob("*.slt")):
            try:
                if rewrite:
                    path.write_text(rewritten(read(path), judge).text())
                run(read(path), judge)
                typer.echo(f"{path.name}: as PostgreSQL has it")
            except (AssertionError, BadScript) as fault:
                typer.echo(str(fault), err=True)
                failed = True
    if failed:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
