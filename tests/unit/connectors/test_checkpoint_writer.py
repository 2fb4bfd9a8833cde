"""A checkpoint is written once, kept as long as it should be, and read back as it was."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.fs
import pytest

from connectors.checkpoint.files import Rows
from connectors.checkpoint.manifest import Manifest, is_file, is_manifest
from connectors.checkpoint.restore import restore
from connectors.checkpoint.store import ArrowStore, LocalStore, Store, open_store
from connectors.checkpoint.writer import SMALL, CheckpointWriter, Cut, Stopped, TableCut
from connectors.errors import CheckpointCorrupt, CheckpointRefused, InvalidStore
from connectors.progress.batches import Range
from connectors.progress.journal import Journal
from connectors.tables.spec import TableSpec, type_of

TYPES = (
    "int64 utf8 bool float64 decimal128(38,4) timestamp[us,tz=UTC] interval uuid json list<utf8>"
)
FIELDS: list[pa.Field] = [
    pa.field(f"c{i}", type_of(name.replace(",tz", ", tz").replace("8,4", "8, 4")), i > 0)
    for i, name in enumerate(TYPES.split())
]
TABLE = TableSpec("t", "t", pa.schema(FIELDS), ("c0",), replica_identity="full")


class Numbers:
    """A batch of the rows that have these numbers, and NULLs."""

    def __init__(self, serial: int, numbers: range, diff: int = 1) -> None:
        self.serial = serial
        self.values = len(numbers)
        self._numbers = numbers
        self._diff = diff

    def rows(self, at_once: int) -> Iterator[Rows]:
        for start in range(0, len(self._numbers), at_once):
            numbers = self._numbers[start : start + at_once]
            columns = [pa.array(numbers, pa.int64())]
            columns += [pa.nulls(len(numbers), f.type) for f in FIELDS[1:]]
            rows = pa.RecordBatch.from_arrays(columns, schema=TABLE.schema)
            yield rows, np.full(len(numbers), self._diff, np.int64)


class Fed:
    """What is restored, as numbers."""

    def __init__(self) -> None:
        self.numbers: Counter[int] = Counter()

    def begin(self) -> None:
        self.numbers = Counter()

    def feed(self, table: str, rows: Rows, time: int) -> None:
        for number, diff in zip(rows[0].column(0).to_numpy(), rows[1], strict=True):
            self.numbers[int(number)] += int(diff)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """A journal of nine times, with nine records each."""
    journal = Journal(tmp_path / "journal")
    for time in range(1, 10):
        journal.prepare(time, [Range("t", "t", 0, 9 * (time - 1), 9 * time)], time)
        journal.commit(time, {"v": time})
    return journal


@pytest.fixture(params=["local", "arrow"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    directory = tmp_path / "checkpoints"
    if request.param == "local":
        return open_store(str(directory))
    return ArrowStore(pyarrow.fs.LocalFileSystem(), str(directory), "arrow")


def cut(journal: Journal, time: int, *batches: Any) -> Cut:
    table = TableCut(TABLE, 0, {("t", 0): 9 * time}, [], list(batches))
    return Cut(journal.identity, time, time, {"v": time}, (table,))


def restored(store: Store, journal: Journal) -> tuple[int, Counter[int]]:
    fed = Fed()
    found = restore(store, journal, {"t": TABLE}, fed)
    assert found.manifest is not None
    return found.manifest.time, +fed.numbers


def test_what_is_written_comes_back(store: Store, journal: Journal) -> None:
    batches = Numbers(1, range(2 * SMALL)), Numbers(2, range(10)), Numbers(3, range(5, 7), -1)
    CheckpointWriter(store, 2).write(cut(journal, 5, *batches))
    time, numbers = restored(store, journal)
    assert time == 5
    assert numbers == Counter(range(2 * SMALL)) + Counter(range(10)) - Counter(range(5, 7))
    assert journal.start == 5


def test_a_batch_is_written_once_and_small_ones_share_a_file(
    store: Store, journal: Journal
) -> None:
    writer = CheckpointWriter(store, 1)
    large = Numbers(1, range(SMALL))
    writer.write(cut(journal, 1, large, Numbers(2, range(3)), Numbers(3, range(4))))
    first = set(store.names())
    assert sum(map(is_file, first)) == 2
    writer.write(cut(journal, 2, large, Numbers(4, range(7))))
    second = set(store.names())
    assert sum(map(is_file, first & second)) == 1
    assert restored(store, journal) == (2, Counter(range(SMALL)) + Counter(range(7)))


def test_files_that_were_restored_stand_for_what_became_of_them(
    store: Store, journal: Journal
) -> None:
    CheckpointWriter(store, 1).write(cut(journal, 1, Numbers(1, range(9)), Numbers(2, range(3))))
    manifest = restore(store, journal, {"t": TABLE}, Fed()).kept[-1]
    writer = CheckpointWriter(store, 1, [manifest])
    whole = [Numbers(7, range(9)), Numbers(8, range(3))]
    writer.stands_for(manifest.tables[0].files, whole)
    assert writer.write(cut(journal, 2, *whole)).bytes == 0
    assert writer.write(cut(journal, 3, whole[0])).bytes > 0
    assert restored(store, journal) == (3, Counter(range(9)))


def test_older_checkpoints_and_what_nobody_names_are_deleted(
    store: Store, journal: Journal
) -> None:
    for name in (f"{1:020d}-7.arrow", f"{3:020d}.manifest.new", "theirs.arrow"):
        with store.create(name) as file:
            file.write(b"left over")
    writer = CheckpointWriter(store, 2)
    spared = [writer.write(cut(journal, t, Numbers(t, range(t)))).spared for t in (1, 2, 3, 4)]
    assert spared == [0, 1, 2, 3]
    names = store.names()
    assert sorted(filter(is_manifest, names)) == [f"{t:020d}.manifest" for t in (3, 4)]
    assert len(names) == 2 + 2 + 1
    assert "theirs.arrow" in names


def test_one_that_is_given_up_leaves_nothing(store: Store, journal: Journal) -> None:
    writer = CheckpointWriter(store, 2)
    writer.write(cut(journal, 1, Numbers(1, range(5))))
    before = sorted(store.names())
    stops = iter([False, True])
    with pytest.raises(Stopped):
        writer.write(cut(journal, 2, Numbers(2, range(200_000))), lambda: next(stops))
    assert sorted(store.names()) == before


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "missing"])
@pytest.mark.parametrize("what", ["manifest", "file"])
def test_a_damaged_checkpoint_is_passed_over(
    tmp_path: Path, journal: Journal, damage: str, what: str
) -> None:
    store = LocalStore(tmp_path / "checkpoints")
    writer = CheckpointWriter(store, 2)
    writer.write(cut(journal, 1, Numbers(1, range(500))))
    writer.write(cut(journal, 2, Numbers(2, range(900))))
    suffix = ".manifest" if what == "manifest" else "-0.arrow"
    path = tmp_path / "checkpoints" / f"{2:020d}{suffix}"
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    for position in range(0, len(content), max(1, len(content) // 40)):
        if damage == "flipped":
            flipped = bytes([content[position] ^ 1])
            path.write_bytes(content[:position] + flipped + content[position + 1 :])
        elif damage != "missing":
            path.write_bytes(content[: position if damage == "cut" else 0])
        fed = Fed()
        found = restore(store, journal, {"t": TABLE}, fed)
        assert found.manifest is not None
        assert found.manifest.time == 1
        assert +fed.numbers == Counter(range(500))
        if (what, damage) != ("manifest", "missing"):
            assert path.name in found.faults[0]


def test_without_a_good_checkpoint_the_journal_must_reach_back(
    tmp_path: Path, journal: Journal
) -> None:
    store = LocalStore(tmp_path / "checkpoints")
    CheckpointWriter(store, 2).write(cut(journal, 1, Numbers(1, range(5))))
    (tmp_path / "checkpoints" / f"{1:020d}-0.arrow").write_bytes(b"")
    found = restore(store, journal, {"t": TABLE}, Fed())
    assert (found.manifest, journal.start) == (None, 0)
    journal.compact(1)
    with pytest.raises(CheckpointRefused, match=f"after time 1.*{1:020d}-0.arrow.*0 bytes"):
        restore(store, journal, {"t": TABLE}, Fed())


def test_a_checkpoint_that_the_journal_does_not_reach_is_refused(
    tmp_path: Path, journal: Journal
) -> None:
    store = LocalStore(tmp_path / "checkpoints")
    CheckpointWriter(store, 2).write(cut(journal, 1, Numbers(1, range(5))))
    journal.compact(3)
    with pytest.raises(CheckpointRefused, match="it is too old"):
        restore(store, journal, {"t": TABLE}, Fed())


def test_a_checkpoint_of_another_journal_is_refused(tmp_path: Path, journal: Journal) -> None:
    store = LocalStore(tmp_path / "checkpoints")
    CheckpointWriter(store, 2).write(cut(journal, 9, Numbers(1, range(5))))
    other = Journal(tmp_path / "other")
    with pytest.raises(CheckpointRefused, match="another journal"):
        restore(store, other, {"t": TABLE}, Fed())


def test_positions_that_contradict_the_journal_are_damage(tmp_path: Path, journal: Journal) -> None:
    store = LocalStore(tmp_path / "checkpoints")
    table = TableCut(TABLE, 0, {("t", 0): 10}, [], [])
    CheckpointWriter(store, 2).write(Cut(journal.identity, 1, 1, {}, (table,)))
    assert "journal at {('t', 0): 9}" in restore(store, journal, {"t": TABLE}, Fed()).faults[0]


def test_a_manifest_of_another_format_is_not_guessed_at(journal: Journal) -> None:
    content = Manifest(journal.identity, 1, 1, {}, ()).to_bytes()
    assert Manifest.from_bytes("m", content).time == 1
    with pytest.raises(CheckpointCorrupt, match="checksum"):
        Manifest.from_bytes("m", content.replace(b'"format":1', b'"format":2'))


@pytest.mark.parametrize("setting", ["nowhere://x/y", "s4://key:secret@bucket/x"])
def test_a_place_that_cannot_be_used_is_named_without_its_secrets(setting: str) -> None:
    with pytest.raises(InvalidStore, match="checkpoints") as caught:
        open_store(setting)
    assert "secret" not in str(caught.value)


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InvalidStore, match=f"checkpoints, which is {tmp_path}/file/x, .*Not a dir"):
        open_store(str(tmp_path / "file" / "x"))


def test_a_uri_of_a_local_directory_is_a_path(tmp_path: Path) -> None:
    store = open_store((tmp_path / "here").as_uri())
    assert isinstance(store, LocalStore)
    assert (tmp_path / "here").is_dir()
