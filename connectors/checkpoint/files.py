"""Files of a table's rows: Arrow IPC, the table's columns and a diff for each row."""

import io
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.checkpoint.manifest import FileEntry
from connectors.checkpoint.store import Sink, Store
from connectors.decode import DIFF
from connectors.errors import CheckpointCorrupt

Rows = tuple[pa.RecordBatch, NDArray[np.int64]]

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


class _Counted(io.RawIOBase):
    """A file object over `sink` that counts the bytes written, and takes their checksum."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self.bytes = self.crc32 = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._sink.write(data)
        self.bytes += len(data)
        self.crc32 = zlib.crc32(data, self.crc32)
        return len(data)


def write_file(store: Store, name: str, schema: pa.Schema, rows: Iterable[Rows]) -> FileEntry:
    """Write `rows`, whose columns are those of `schema` (raises OSError)."""
    count = 0
    with store.create(name) as sink:
        counted = _Counted(sink)
        file = pa.PythonFile(counted, "w")
        whole = _with_diff(schema)
        with pa.ipc.new_file(file, whole, options=_OPTIONS) as writer:
            for batch, diffs in rows:
                columns = [*batch.columns, pa.array(diffs)]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=whole))
                count += batch.num_rows
    return FileEntry(name, count, counted.bytes, counted.crc32)


def read_file(store: Store, entry: FileEntry, schema: pa.Schema) -> Iterator[Rows]:
    """The rows of a file (raises CheckpointCorrupt, before the first, if it is not as it was)."""
    try:
        content = store.read(entry.name)
    except (OSError, pa.ArrowException) as error:
        raise CheckpointCorrupt(f"{entry.name}: {error}") from error
    if content.size != entry.bytes:
        raise CheckpointCorrupt(
            f"{entry.name}: it has {content.size} bytes where {entry.bytes} were written"
        )
    if zlib.crc32(content) != entry.crc32:
        raise CheckpointCorrupt(f"{entry.name}: the checksum does not hold")
    reader = pa.ipc.open_file(content)
    if not reader.schema.equals(_with_diff(schema)):
        raise CheckpointCorrupt(f"{entry.name}: its columns are not those of the manifest")
    for i in range(reader.num_record_batches):
        batch = reader.get_batch(i)
        diffs = batch.column(len(schema)).to_numpy()
        yield pa.RecordBatch.from_arrays(batch.columns[: len(schema)], schema=schema), diffs


def _with_diff(schema: pa.Schema) -> pa.Schema:
    return schema.append(pa.field(DIFF, pa.int64(), nullable=False))
