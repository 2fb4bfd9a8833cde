"""The manifest of a checkpoint: lists the files of each table, and the time that they reflect.

It is one line `crc32 json`, named for its time. A checkpoint is its manifest: files that none names
are left over from one that was not completed, or is no more.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import pyarrow as pa

from connectors.errors import CheckpointCorrupt, InvalidTable
from connectors.files.lines import checked_line, read_checked
from connectors.tables.spec import type_name, type_of

FORMAT = 1
_NAME = re.compile(r"(\d{20})\.manifest")
_FILE = re.compile(r"\d{20}-\d+\.arrow")
_UNFINISHED = re.compile(r"\d{20}\.manifest\.new")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of rows: its name, how many rows it holds, its bytes and their CRC-32."""

    name: str
    rows: int
    bytes: int
    crc32: int


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table in a manifest: its life, topic and declaration, and the files that add up to it.

    `positions` are the offsets after the last one reflected, by stream and partition; `seen` is
    what `connectors.ingest.dedup` remembers of it, `miscounted` what `connectors.ingest.miscounts`
    does. `age` counts the changes of its declaration before (None: it was not told yet).
    """

    name: str
    epoch: int
    topic: str
    schema: pa.Schema
    key: tuple[str, ...]
    positions: Mapping[tuple[str, int], int]
    files: tuple[FileEntry, ...]
    seen: list[Any]
    miscounted: str = ""
    age: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The tables as of `time`, with the journal's identity and the published ends.

    `journal` is the identity of the journal whose times these are, `moment` what the clock showed
    (microseconds since the epoch), and `published` where the delta topic of every view ended.
    """

    journal: str
    time: int
    moment: int
    published: Mapping[str, int]
    tables: tuple[TableEntry, ...]

    @property
    def name(self) -> str:
        """The manifest's file."""
        return manifest_name(self.time)

    def files(self) -> list[FileEntry]:
        """The files of all tables."""
        return [file for table in self.tables for file in table.files]

    def to_bytes(self) -> bytes:
        """The bytes that `from_bytes` reads."""
        return checked_line(
            {
                "format": FORMAT,
                "journal": self.journal,
                "time": self.time,
                "moment": self.moment,
                "published": dict(self.published),
                "tables": [_table_to_json(table) for table in self.tables],
            }
        )

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> Self:
        """The manifest in file `name` (raises CheckpointCorrupt)."""
        record = read_checked(data)
        if record is None:
            raise CheckpointCorrupt(f"{name}: the checksum does not hold")
        if record.get("format") != FORMAT:
            raise CheckpointCorrupt(
                f"{name}: its format is {record.get('format')}, this version reads {FORMAT}"
            )
        try:
            return cls(
                record["journal"],
                record["time"],
                record["moment"],
                record["published"],
                tuple(_table_from_json(table) for table in record["tables"]),
            )
        except (KeyError, TypeError, ValueError, InvalidTable) as error:
            raise CheckpointCorrupt(f"{name}: {error!r}") from error


def manifest_name(time: int) -> str:
    """The file of the checkpoint of `time`; names ascend with times."""
    return f"{time:020d}.manifest"


def is_manifest(name: str) -> bool:
    """Whether a file is a manifest by its name."""
    return _NAME.fullmatch(name) is not None


def file_name(time: int, number: int) -> str:
    """The file `number` of those written for the checkpoint of `time`."""
    return f"{time:020d}-{number}.arrow"


def is_file(name: str) -> bool:
    """Whether a file is one of rows by its name."""
    return _FILE.fullmatch(name) is not None


def is_ours(name: str) -> bool:
    """Whether a file belongs to checkpoints by its name."""
    return is_manifest(name) or is_file(name) or _UNFINISHED.fullmatch(name) is not None


def _table_to_json(table: TableEntry) -> dict[str, Any]:
    return {
        "name": table.name,
        "epoch": table.epoch,
        "topic": table.topic,
        "columns": [[f.name, type_name(f.type), f.nullable] for f in table.schema],
        "key": table.key,
        "positions": [[*at, end] for at, end in table.positions.items()],
        "files": [asdict(file) for file in table.files],
        "seen": table.seen,
        "miscounted": table.miscounted,
        "age": table.age,
    }


def _table_from_json(value: dict[str, Any]) -> TableEntry:
    positions = {}
    for *named, partition, end in value["positions"]:
        [stream] = named or [value["name"]]  # none is named from before tables had several
        positions[stream, partition] = end
    fields = [pa.field(name, type_of(text), nullable) for name, text, nullable in value["columns"]]
    return TableEntry(
        value["name"],
        value["epoch"],
        value["topic"],
        pa.schema(fields),
        tuple(value["key"]),
        positions,
        tuple(FileEntry(**file) for file in value["files"]),
        value["seen"],
        value.get("miscounted", ""),
        value.get("age"),
    )
