"""`ivm backup` and `ivm restore`: a running service's state in a file, and back from it."""

from pathlib import Path
from typing import Annotated

import typer

from api.services.restore_backup import restore_backup
from api.settings import Settings
from api.terminal import AsJson, connected, out, plain_errors, print_json
from ivm_client.backup import write_backup


def backup(
    file: Annotated[Path, typer.Argument(help="The archive that is written, such as ivm.tar.")],
    json: AsJson = False,
) -> None:
    """Write all that a running service keeps to FILE, as of one moment; it goes on meanwhile."""
    with connected() as service:
        size = write_backup(service, file)
    if json:
        print_json({"file": str(file), "bytes": size})
    else:
        out.print(f"{size:,} bytes in {file}", soft_wrap=True)


def restore(
    file: Annotated[Path, typer.Argument(help="An archive of `ivm backup`.")],
    json: AsJson = False,
) -> None:
    """Fill the empty directories of a service that does not run from FILE; then start it."""
    with plain_errors():
        count = restore_backup(file, Settings())
    if json:
        print_json({"file": str(file), "files": count})
    else:
        out.print(f"{count} files restored; `ivm serve` goes on from there")
