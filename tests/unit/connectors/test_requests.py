"""Topics of requests: each is in the topic whole or not at all, and once, whatever stops."""

from pathlib import Path

import pytest

from connectors.errors import KeyReused
from connectors.files.reader import TopicReader
from connectors.files.requests import LOG, WrittenTopic, delete, is_written
from connectors.files.retention import Retention

TWO = [b'{"id":1}', b'{"id":2}']


def lines(root: Path) -> list[bytes]:
    return [line.strip() for line in TopicReader(root, "orders").read(0, 0, 1_000)]


def test_a_request_is_in_the_topic(tmp_path: Path) -> None:
    written = WrittenTopic(tmp_path, "orders").write(TWO)
    assert (written.first, written.end, written.again) == (0, 2, False)
    assert lines(tmp_path) == TWO


def test_a_key_is_written_once_and_answers_where(tmp_path: Path) -> None:
    topic = WrittenTopic(tmp_path, "orders")
    topic.write([b'{"id":0}'])
    topic.write(TWO, "a")
    again = topic.write(TWO, "a")
    assert (again.first, again.end, again.again) == (1, 3, True)
    assert topic.end == 3


def test_a_key_with_other_records_is_refused(tmp_path: Path) -> None:
    topic = WrittenTopic(tmp_path, "orders")
    topic.write(TWO, "a")
    with pytest.raises(KeyReused, match="'a' came with other rows"):
        topic.write(TWO[:1], "a")
    assert topic.end == 2


def test_keys_are_known_after_a_restart(tmp_path: Path) -> None:
    topic = WrittenTopic(tmp_path, "orders")
    topic.write(TWO, "a")
    topic.close()
    assert WrittenTopic(tmp_path, "orders").write(TWO, "a").again


def test_keys_are_known_once_the_log_was_compacted(tmp_path: Path) -> None:
    topic = WrittenTopic(tmp_path, "orders", log_bytes=1)
    topic.write(TWO, "a")
    topic.write(TWO, "b")
    assert b"records" not in (tmp_path / "orders" / LOG).read_bytes()
    found = WrittenTopic(tmp_path, "orders")
    assert (found.write(TWO, "b").first, found.end) == (2, 4)


@pytest.mark.parametrize("kept", range(0, 19, 3))
def test_a_request_that_a_crash_cut_short_is_finished(tmp_path: Path, kept: int) -> None:
    topic = WrittenTopic(tmp_path, "orders")
    topic.write([b'{"id":0}'])
    topic.write(TWO, "a")
    segment = tmp_path / "orders" / "0" / f"{0:020d}.jsonl"
    with segment.open("r+b") as file:
        file.truncate(9 + kept)
    assert WrittenTopic(tmp_path, "orders").write(TWO, "a").again
    assert lines(tmp_path) == [b'{"id":0}', *TWO]


def test_a_request_whose_log_was_torn_was_never_written(tmp_path: Path) -> None:
    topic = WrittenTopic(tmp_path, "orders")
    topic.write([b'{"id":0}'])
    log = tmp_path / "orders" / LOG
    whole = log.stat().st_size
    topic.write(TWO, "a")
    for size in range(whole, log.stat().st_size, 7):
        with log.open("r+b") as file:
            file.truncate(size)
        found = WrittenTopic(tmp_path, "orders")
        assert (found.end, found.write(TWO, "a").again) == (1, False)
        found.close()
        delete(tmp_path, "orders")
        WrittenTopic(tmp_path, "orders").write([b'{"id":0}'])
        WrittenTopic(tmp_path, "orders").write(TWO, "a")


def test_a_deleted_topic_leaves_nothing(tmp_path: Path) -> None:
    WrittenTopic(tmp_path, "orders").write(TWO, "a")
    delete(tmp_path, "orders")
    assert not is_written(tmp_path, "orders")
    assert list(tmp_path.iterdir()) == []


def test_segments_beyond_retention_go_as_far_as_they_are_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.files.requests.SEGMENT_BYTES", 1)
    topic = WrittenTopic(tmp_path, "orders")
    for number in range(5):
        topic.write([b'{"id":%d}' % number], str(number))
    assert topic.clean(Retention(seconds=1_000), 5) == 0, "they are young"
    assert topic.clean(Retention(size=0), 3) == 3 * 9
    found = WrittenTopic(tmp_path, "orders")  # as after a kill
    assert found.end == 5
    assert found.write([b'{"id":1}'], "1").again, "keys outlive their records"
    assert TopicReader(tmp_path, "orders").read(0, 3, 10) == [b'{"id":3}', b'{"id":4}']
