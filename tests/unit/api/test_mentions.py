"""The mentions' demonstration: its stream, its window, and a judge that finds what is wrong."""

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from random import Random

import orjson
import pytest

from api.mentions.board import Board
from api.mentions.command import width_of
from api.mentions.course import course
from api.mentions.errors import BadMentions
from api.mentions.judge import Judge
from api.mentions.stream import Mention, Stream, generate, read
from api.mentions.views import COMPONENTS, MENTIONS, TOPICS, WINDOW
from connectors.files.writer import TopicWriter

Rows = Mapping[tuple[object, ...], int]

LINES = """user,mentions,hashtag,time
ann,bob carol,#tea,2013-01-06T12:00:01Z
bob,ann,,1357473600
bob,ann,#cup,1357473602.9
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "mentions.csv"
    path.write_text(text)
    return path


def test_a_file_has_a_mention_for_each_name_in_the_order_of_time(tmp_path: Path) -> None:
    stream = read(written(tmp_path, LINES))
    told = [(stream.name(m.author), stream.name(m.mentioned), m.tag) for m in stream.mentions]
    assert told == [
        ("bob", "ann", None),
        ("ann", "bob", "#tea"),
        ("ann", "carol", "#tea"),
        ("bob", "ann", "#cup"),
    ]
    assert (stream.first, stream.last) == (1357473600, 1357473602)
    assert [m.second for m in stream.between(1357473601, 1357473601)] == [1357473601] * 2


def test_names_are_told_apart_however_they_are_written(tmp_path: Path) -> None:
    text = '\ufeffuser,mentions,hashtag,time\n@ann,"@bob, carol;dan ann",#tea,1.5\n'
    stream = read(written(tmp_path, text))
    told = [(stream.name(m.author), stream.name(m.mentioned)) for m in stream.mentions]
    assert told == [("ann", name) for name in ("bob", "carol", "dan", "ann")]


def test_users_are_numbered_by_how_often_they_are_there(tmp_path: Path) -> None:
    stream = read(written(tmp_path, LINES))
    assert [stream.name(number) for number in (1, 2, 3)] == ["ann", "bob", "carol"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no line has a mention"),
        ("user,mentions,hashtag,time\n", "no line has a mention"),
        ("ann,,#tea,1\n", "no line has a mention"),
        ("ann,bob,1\n", "line 1: not of the form user,mentions,hashtag,time"),
        ("ann,bob,,1\n,bob,,2\n", "line 2: '' is not one user"),
        ("ann eve,bob,,1\n", "line 1: 'ann eve' is not one user"),
        ("ann,bob,,noon\n", "line 1: the time 'noon' is neither a number of seconds nor"),
        ("ann,bob,,nan\n", "line 1: the time 'nan' is neither"),
        ("ann,bob,,1e300\n", "line 1: the time '1e300' is neither"),
        ('ann,"' + "b" * 200_000 + '",,1\n', "no text of comma-separated values: field larger"),
    ],
)
def test_a_file_that_is_not_as_it_must_be_names_its_line(
    tmp_path: Path, text: str, fault: str
) -> None:
    with pytest.raises(BadMentions, match=fault):
        read(written(tmp_path, text))


def test_a_stream_that_is_made_is_the_same_each_time_and_fills_its_seconds() -> None:
    stream, again = generate(60, 50), generate(60, 50)
    assert stream.mentions == again.mentions
    assert len(stream.mentions) == 3_000
    assert (stream.first, stream.last) == (0, 59)
    seconds = [mention.second for mention in stream.mentions]
    assert seconds == sorted(seconds)


def test_few_users_of_a_stream_make_most_of_it() -> None:
    often = Counter(mention.author for mention in generate(600, 50).mentions)
    assert sum(count for _, count in often.most_common(len(often) // 10)) > 15_000


@pytest.mark.parametrize(("room", "steps"), [(99, 40), (3, 40), (1, 5), (99, 1)])
def test_a_window_moves_by_a_second_within_its_stream(room: int, steps: int) -> None:
    moves = [10, *course(10, 10 + room, steps)]
    assert len(moves) == steps + 1
    assert all(abs(after - before) == 1 for before, after in pairwise(moves))
    assert min(moves) >= 10
    assert max(moves) <= 10 + room


def test_a_window_moves_back_and_forward_again() -> None:
    moves = list(course(0, 1_000, 100))
    assert max(moves[:60]) > moves[70] < moves[99]


def test_a_window_is_half_of_a_stream_that_is_shorter() -> None:
    stream = generate(100, 5)
    assert width_of(stream, 30) == 30
    assert width_of(stream, 86_400) == 50
    one = Stream([Mention(1, 2, None, 7)], str)
    with pytest.raises(BadMentions, match="all mentions are of one second"):
        width_of(one, 30)


class Topics:
    """Input and delta topics as a service that is right would write them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.writers = {
            topic: TopicWriter(root, topic)
            for topic in (MENTIONS, WINDOW, f"deltas.{COMPONENTS}", f"deltas.{TOPICS}")
        }

    def append(self, topic: str, *records: Mapping[str, object]) -> None:
        self.writers[topic].append([*map(orjson.dumps, records)])

    def enter(self, second: int, *, leave: bool = False) -> None:
        self.append(WINDOW, {"second": second, "__deleted": "true" if leave else "false"})

    def mention(self, author: int, mentioned: int, tag: str | None, second: int) -> None:
        record = {"author": author, "mentioned": mentioned, "tag": tag, "second": second}
        self.append(MENTIONS, record)

    def deltas(self, time: int, components: Rows, topics: Rows) -> None:
        ends = {topic: self.writers[topic].end for topic in (MENTIONS, WINDOW)}
        offsets = {topic: {"0": end} for topic, end in ends.items() if end}
        names = ("src", "dst", "component"), ("component", "members", "tag", "uses")
        views = (COMPONENTS, names[0], components), (TOPICS, names[1], topics)
        for view, columns, rows in views:
            for row, diff in rows.items():
                told = {"diff": diff, "time": time, "row": dict(zip(columns, row, strict=True))}
                self.append(f"deltas.{view}", told)
            self.append(f"deltas.{view}", {"frontier": time, "offsets": offsets})


@pytest.fixture
def topics(tmp_path: Path) -> Topics:
    """A pair that mentions one another, of which one mention leaves the window and comes back."""
    topics = Topics(tmp_path)
    topics.deltas(-1, {}, {})
    topics.mention(1, 2, "#tea", 5)
    topics.mention(2, 1, None, 6)
    topics.enter(5)
    topics.enter(6)
    topics.deltas(0, {(1, 2, 1): 1, (2, 1, 1): 1}, {(1, 2, "#tea", 1): 1})
    topics.enter(5, leave=True)
    topics.deltas(1, {(1, 2, 1): -1, (2, 1, 1): -1}, {(1, 2, "#tea", 1): -1})
    topics.enter(5)
    topics.deltas(2, {(1, 2, 1): 1, (2, 1, 1): 1}, {(1, 2, "#tea", 1): 1})
    return topics


def test_a_judge_finds_right_deltas_right_at_every_cut(topics: Topics) -> None:
    verdicts = list(Judge(topics.root, Random(0)).verdicts(9))
    assert [(v.time, v.window, v.components) for v in verdicts] == [
        (0, (5, 6), 1),
        (1, (6, 6), 0),
        (2, (5, 6), 1),
    ]
    assert not any(verdict.faults for verdict in verdicts)


def test_a_cut_between_a_second_that_left_and_the_next_has_no_window(topics: Topics) -> None:
    topics.enter(5, leave=True)
    topics.enter(6, leave=True)
    topics.deltas(3, {(1, 2, 1): -1, (2, 1, 1): -1}, {(1, 2, "#tea", 1): -1})
    *_, last = Judge(topics.root, Random(0)).verdicts(0)
    assert (last.window, last.mentions, last.components) == ((0, 0), 0, 0)
    assert not last.faults


def test_a_judge_names_the_view_and_the_time_that_are_wrong(topics: Topics) -> None:
    topics.enter(6, leave=True)
    topics.deltas(3, {(1, 2, 1): -1, (2, 1, 1): -1}, {})
    *others, last = Judge(topics.root, Random(0)).verdicts(9)
    assert not any(verdict.faults for verdict in others)
    assert last.faults == (f"{TOPICS} at time 3: 1 rows too many, 0 missing",)


def test_the_board_folds_deltas_and_times_each_step_until_it_is_reflected(topics: Topics) -> None:
    board = Board(topics.root)
    for mentions, moments in ((2, 2), (2, 4), (3, 4)):
        board.step(0.0, {MENTIONS: mentions, WINDOW: moments})
    assert board.lag == 3
    board.refresh()
    assert board.lag == 1  # its mentions are not reflected yet, though its window is
    assert len(board.latencies) == 2
    assert board.largest(5) == [(1, 2, "#tea", 1)]
    assert (board.components, board.mentions, board.deltas) == (1, 2, 3)
