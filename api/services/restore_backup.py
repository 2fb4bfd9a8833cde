"""Restores a backup: fills the directories of a service that does not run, and has no state.

The journal comes last. Until it is there a start finds nothing, and a restore that was cut short is
begun again.
"""

import os
import shutil
import tarfile
from pathlib import Path, PurePosixPath
from typing import IO

import orjson

from api.errors import BackupRefused
from api.services import data_directory
from api.services.backups import END, FACTS, FORMAT
from api.settings import Settings
from connectors.checkpoint.store import open_store
from connectors.files.durable import settle, staged_for, sync_directory

# Stands in a data directory as long as it is being filled.
_MARK = "restoring"


def restore_backup(file: Path, settings: Settings) -> int:
    """Fill the directories that the settings name from an archive; how many files it had.

    Raises BackupRefused, DataDirectoryNewer, OSError; then no service starts from what is there.
    """
    data, topics = settings.data, settings.topics_directory
    _expect_empty(data, topics)
    try:
        with tarfile.open(file) as archive:
            _check_facts(archive, file)
            data.mkdir(parents=True, exist_ok=True)
            (data / _MARK).touch()
            count = _unpack(archive, settings)
    except tarfile.TarError as error:
        raise BackupRefused(f"{file} is no backup, or not whole: {error}") from error
    if count is None:
        raise BackupRefused(f"{file} is not whole: it ends before its end. Take the backup anew")
    os.sync()
    settle(staged_for(data / "journal"), data / "journal")
    (data / _MARK).unlink()
    sync_directory(data)
    return count


def _expect_empty(data: Path, topics: Path) -> None:
    if (data / _MARK).exists():
        return  # what is there is of a restore that was cut short
    for place, setting in ((data, "data"), (topics, "topics")):
        if place.exists() and any(place.iterdir()):
            raise BackupRefused(
                f"{place} is not empty: a backup is restored into directories without a state; "
                f"move it away, or set `{setting}` (IVM_{setting.upper()}) to another"
            )


def _check_facts(archive: tarfile.TarFile, file: Path) -> None:
    first = archive.next()
    content = archive.extractfile(first) if first is not None and first.name == FACTS else None
    if content is None:
        raise BackupRefused(f"{file} is no backup of `ivm backup`")
    facts = orjson.loads(content.read())
    if facts["format"] != FORMAT:
        raise BackupRefused(f"{file} has format {facts['format']}; this ivm reads {FORMAT}")
    data_directory.check(facts["version"], f"the backup {file}")


def _unpack(archive: tarfile.TarFile, settings: Settings) -> int | None:
    """The number of files; None if the archive ends before its end."""
    store, count = open_store(settings.checkpoints_place), 0
    places = {"data": settings.data, "topics": settings.topics_directory}
    while (entry := archive.next()) is not None:
        if entry.name == END:
            return count
        content = archive.extractfile(entry)
        place, _, name = entry.name.partition("/")
        if content is None or not name or ".." in PurePosixPath(name).parts:
            raise _unexpected(entry.name)
        if place == "checkpoints":
            store.publish(name, content.read())
        elif place in places:
            path = places[place] / name
            _write(content, staged_for(path) if entry.name == "data/journal" else path)
        else:
            raise _unexpected(entry.name)
        count += 1
    return None


def _unexpected(name: str) -> BackupRefused:
    return BackupRefused(f"the backup has an entry {name!r}, which none of ours has")


def _write(content: IO[bytes], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        shutil.copyfileobj(content, file)
    path.chmod(0o600)
