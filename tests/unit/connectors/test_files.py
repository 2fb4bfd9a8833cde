"""File topics: offsets are stable, torn lines do not count, tailing reads only what is new."""

from pathlib import Path

import pytest

from connectors.errors import InvalidRecord, TopicTruncated
from connectors.files.index import STRIDE, PartitionIndex, Segment
from connectors.files.layout import bases, partition_directory, partitions
from connectors.files.reader import TopicReader
from connectors.files.writer import TopicWriter


def lines(count: int, start: int = 0) -> list[bytes]:
    return [b'{"n":%d}' % n for n in range(start, start + count)]


def read_all(root: Path) -> list[bytes]:
    return TopicReader(root, "t").read(0, 0, 1_000_000)


def segment(root: Path) -> Path:
    directory = partition_directory(root, "t", 0)
    return directory / f"{bases(directory)[-1]:020d}.jsonl"


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t")
    assert writer.append(lines(3)) == 0
    assert writer.append(lines(2, 3)) == 3
    assert writer.end == 5
    assert read_all(tmp_path) == lines(5)


def test_a_segment_is_named_by_the_offset_of_its_first_record(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t", segment_bytes=10)
    for start in range(0, 6, 2):
        writer.append(lines(2, start))
    names = sorted(p.name for p in partition_directory(tmp_path, "t", 0).iterdir())
    assert names == [f"{base:020d}.jsonl" for base in (0, 2, 4)]
    assert read_all(tmp_path) == lines(6)


@pytest.mark.parametrize("first", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("limit", [1, 2, 3, 9])
def test_any_range_can_be_read_across_segments(tmp_path: Path, first: int, limit: int) -> None:
    writer = TopicWriter(tmp_path, "t", segment_bytes=10)
    for n in range(0, 6, 2):
        writer.append(lines(2, n))
    assert TopicReader(tmp_path, "t").read(0, first, limit) == lines(6)[first : first + limit]


def test_reading_beyond_the_end_gives_nothing(tmp_path: Path) -> None:
    TopicWriter(tmp_path, "t").append(lines(2))
    assert TopicReader(tmp_path, "t").read(0, 5, 10) == []


def test_a_topic_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    assert TopicReader(tmp_path, "t").ends() == {}


def test_partitions_may_appear_later(tmp_path: Path) -> None:
    reader = TopicReader(tmp_path, "t")
    TopicWriter(tmp_path, "t", 0).append(lines(1))
    assert reader.ends() == {0: 1}
    TopicWriter(tmp_path, "t", 10).append(lines(2))
    assert reader.ends() == {0: 1, 10: 2}
    assert partitions(tmp_path, "t") == [0, 10]


def test_a_line_counts_only_with_its_newline(tmp_path: Path) -> None:
    TopicWriter(tmp_path, "t").append(lines(2))
    with segment(tmp_path).open("ab") as file:
        file.write(b'{"n":2')
    reader = TopicReader(tmp_path, "t")
    assert reader.ends() == {0: 2}
    with segment(tmp_path).open("ab") as file:
        file.write(b"}\n")
    assert reader.ends() == {0: 3}
    assert reader.read(0, 2, 1) == [b'{"n":2}']


def test_a_torn_tail_is_cut_off_when_the_writer_comes_back(tmp_path: Path) -> None:
    TopicWriter(tmp_path, "t").append(lines(2))
    with segment(tmp_path).open("ab") as file:
        file.write(b'{"torn')
    writer = TopicWriter(tmp_path, "t")
    assert writer.append(lines(1, 2)) == 2
    assert read_all(tmp_path) == lines(3)


def test_a_torn_first_line_leaves_an_empty_segment(tmp_path: Path) -> None:
    TopicWriter(tmp_path, "t")
    segment(tmp_path).write_bytes(b'{"torn')
    assert TopicWriter(tmp_path, "t").end == 0
    assert segment(tmp_path).read_bytes() == b""


def test_records_may_be_appended_in_blocks(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t")
    assert writer.append_blocks([b"a\nb\n", b"c\n"], 3) == 0
    assert writer.append_blocks([b"d\n"], 1) == 3
    assert TopicReader(tmp_path, "t").read(0, 1, 10) == [b"b", b"c", b"d"]
    with pytest.raises(InvalidRecord):
        writer.append_blocks([b"e\nf\n"], 1)
    assert writer.end == 4


def test_a_record_with_a_newline_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t")
    with pytest.raises(InvalidRecord):
        writer.append([b"1", b"2\n3"])
    assert writer.end == 0
    assert read_all(tmp_path) == []


@pytest.mark.parametrize("end", range(7))
def test_truncation_keeps_exactly_the_first_records(tmp_path: Path, end: int) -> None:
    writer = TopicWriter(tmp_path, "t", segment_bytes=10)
    for start in range(0, 6, 2):
        writer.append(lines(2, start))
    writer.truncate(end)
    assert writer.end == end
    writer.append(lines(1, 100))
    assert read_all(tmp_path) == [*lines(end), *lines(1, 100)]


def test_truncation_to_more_than_there_is_is_refused(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t")
    writer.append(lines(2))
    with pytest.raises(TopicTruncated):
        writer.truncate(3)


def test_a_topic_that_shrank_is_noticed(tmp_path: Path) -> None:
    TopicWriter(tmp_path, "t").append(lines(3))
    reader = TopicReader(tmp_path, "t")
    reader.ends()
    segment(tmp_path).write_bytes(lines(1)[0] + b"\n")
    with pytest.raises(TopicTruncated):
        reader.ends()


def test_a_missing_segment_in_the_middle_is_noticed(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t", segment_bytes=10)
    for start in range(0, 6, 2):
        writer.append(lines(2, start))
    (partition_directory(tmp_path, "t", 0) / f"{2:020d}.jsonl").unlink()
    with pytest.raises(TopicTruncated):
        read_all(tmp_path)


def test_any_line_of_a_long_segment_is_found(tmp_path: Path) -> None:
    count = 3 * STRIDE + 5
    TopicWriter(tmp_path, "t").append(lines(count))
    found = Segment(segment(tmp_path), 0)
    found.scan()
    content = segment(tmp_path).read_bytes()
    for line in (0, 1, STRIDE - 1, STRIDE, STRIDE + 1, 3 * STRIDE, count - 1):
        assert content[found.byte(line) :].startswith(b'{"n":%d}\n' % line)
    assert found.byte(count) == len(content)


def test_marks_do_not_depend_on_how_a_segment_grew(tmp_path: Path) -> None:
    count = 2 * STRIDE + 100
    writer = TopicWriter(tmp_path, "t")
    growing = Segment(segment(tmp_path), 0)
    for start in range(0, count, 999):
        writer.append(lines(min(999, count - start), start))
        growing.scan()
    whole = Segment(segment(tmp_path), 0)
    whole.scan()
    assert growing.lines == whole.lines == count
    wanted = range(0, count + 1, 37)
    assert [growing.byte(n) for n in wanted] == [whole.byte(n) for n in wanted]


def test_spans_cover_a_range_once_and_are_bounded(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "t", segment_bytes=500)
    for start in range(0, 300, 30):
        writer.append(lines(30, start))
    index = PartitionIndex(partition_directory(tmp_path, "t", 0))
    index.refresh()
    spans = list(index.spans(7, 295, step=16))
    assert max(span.count for span in spans) <= 16
    assert [line for span in spans for line in span.lines()] == lines(300)[7:295]
    assert [span.first for span in spans[1:]] == [s.first + s.count for s in spans[:-1]]


def test_a_span_whose_bytes_are_gone_is_noticed(tmp_path: Path) -> None:
    TopicWriter(tmp_path, "t").append(lines(3))
    reader = TopicReader(tmp_path, "t")
    reader.ends()
    (span,) = reader.spans(0, 0, 3)
    segment(tmp_path).write_bytes(lines(1)[0] + b"\n")
    with pytest.raises(TopicTruncated):
        span.lines()


@pytest.mark.parametrize("stray", ["topic", "topic/0"])
def test_a_file_in_the_place_of_a_directory_holds_no_records(tmp_path: Path, stray: str) -> None:
    path = tmp_path / stray
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"stray\n")
    assert sum(TopicReader(tmp_path, "topic").ends().values()) == 0


@pytest.mark.parametrize("stray", ["7.jsonl", f"{7:020d}.json", f"{7:020d}.jsonl~", "٣.jsonl"])
def test_a_file_that_is_not_named_as_a_segment_is_not_read(tmp_path: Path, stray: str) -> None:
    TopicWriter(tmp_path, "t").append(lines(3))
    (partition_directory(tmp_path, "t", 0) / stray).write_bytes(b"stray\n")
    assert read_all(tmp_path) == lines(3)


@pytest.mark.parametrize("stray", ["007", "٣", "-1"])
def test_a_directory_that_is_not_named_as_a_partition_is_not_read(
    tmp_path: Path, stray: str
) -> None:
    (tmp_path / "t" / stray).mkdir(parents=True)
    assert partitions(tmp_path, "t") == []
