"""A file topic's partition as a source: batches, a position to go on from, and an end."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from connectors.errors import TopicTruncated
from connectors.files.source import FileSource
from connectors.files.writer import TopicWriter
from connectors.source import BLOCK, batches

COUNT = 2 * BLOCK + 5


@pytest.fixture
def topics(tmp_path: Path) -> Path:
    with closing(TopicWriter(tmp_path, "t")) as writer:
        writer.append([b"%d" % number for number in range(COUNT)])
    return tmp_path


def numbers(topics: Path, first: int, end: int) -> Iterator[int]:
    for batch in batches(lambda *where: FileSource(topics, *where), "t", 0, first, end):
        assert 0 < len(batch) <= BLOCK
        yield from (int(value or b"") for value in batch.values)


@pytest.mark.parametrize(("first", "end"), [(0, COUNT), (3, 7), (BLOCK - 1, BLOCK + 1), (5, 5)])
def test_a_range_is_given_in_batches(topics: Path, first: int, end: int) -> None:
    assert list(numbers(topics, first, end)) == list(range(first, end))


def test_a_source_opened_at_a_position_gives_the_rest(topics: Path) -> None:
    source = FileSource(topics, "t", 0, 2, COUNT)
    assert source.position == 2
    batch = source.next_batch()
    assert batch is not None
    assert source.position == 2 + len(batch)
    source.close()
    source.close()
    assert list(numbers(topics, source.position, COUNT)) == list(range(source.position, COUNT))


def test_a_source_that_is_read_to_its_end_gives_nothing_more(topics: Path) -> None:
    with closing(FileSource(topics, "t", 0, 0, 3)) as source:
        assert source.next_batch() is not None
        assert [source.next_batch(), source.next_batch()] == [None, None]
        assert source.position == 3


@pytest.mark.parametrize(("topic", "partition", "end"), [("t", 9, 1), ("absent", 0, 1)])
def test_a_partition_that_is_not_there_is_told(
    topics: Path, topic: str, partition: int, end: int
) -> None:
    with (
        closing(FileSource(topics, topic, partition, 0, end)) as source,
        pytest.raises(TopicTruncated),
    ):
        source.next_batch()
