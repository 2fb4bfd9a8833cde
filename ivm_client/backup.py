"""A backup: all that a running service keeps, in one archive, as of one moment."""

from pathlib import Path

from ivm_client.service import ServiceClient


def write_backup(service: ServiceClient, file: Path) -> int:
    """Write the service's state to `file`, a tar archive, and return its bytes.

    The file is there whole or not at all. Raises Problem, Unreachable, OSError.
    """
    partial = file.with_name(file.name + ".part")
    try:
        with (
            partial.open("wb") as to,
            service.stream("/v1/backup", {}, "application/x-tar") as answer,
        ):
            for piece in answer.iter_bytes():
                to.write(piece)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return file.stat().st_size
