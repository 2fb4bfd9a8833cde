"""A stream of mentions in seconds: made at random, or read from a file of users' names.

Users are numbered by how often they are in the stream, the most frequent first: a component is
named by its least member, who is then seldom missing from it.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import floor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from api.mentions.errors import BadMentions

SEED = 20_130_106
COLUMNS = ("user", "mentions", "hashtag", "time")
# Of the mentions made, the share that names someone of the author's circle, and the share that
# names anyone at all; the others name a celebrity of a circle more active than the author's.
IN_CIRCLE = 0.75
ANYONE = 0.0002
TAGGED = 0.4
MENTIONS_OF_USER = 3  # in the mean
CIRCLE = 40  # users
TAGS_OF_CIRCLE = 8

_BETWEEN = re.compile(r"[\s,;]+")
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Mention:
    """`author` mentions `mentioned` in the second `second`, with a hashtag or without."""

    author: int
    mentioned: int
    tag: str | None
    second: int


class Stream:
    """Mentions in the order of their seconds, from `first` to `last`."""

    def __init__(self, mentions: Sequence[Mention], name: Callable[[int], str]) -> None:
        self.mentions = mentions
        self.name = name
        self._seconds = np.array([mention.second for mention in mentions], np.int64)
        self.first, self.last = int(self._seconds[0]), int(self._seconds[-1])

    def between(self, first: int, last: int) -> Sequence[Mention]:
        """The mentions in the seconds from `first` to `last`."""
        start, end = np.searchsorted(self._seconds, [first, last + 1])
        return self.mentions[start:end]


def generate(seconds: int, per_second: float) -> Stream:
    """Makes a stream of `seconds` seconds with so many mentions in each, in the mean.

    Both who mentions and who is mentioned follow Zipf's law.
    """
    random = np.random.default_rng(SEED)
    count = max(int(seconds * per_second), 1)
    circles = max(count // (MENTIONS_OF_USER * CIRCLE), 1)
    users = circles * CIRCLE
    authors = _zipf(random, count, users)
    circle = authors % circles
    mates = circle + circles * _zipf(random, count, CIRCLE)
    celebrities = _zipf(random, count, circles) % np.maximum(circle, 1)
    chance = random.random(count)
    mentioned = np.where(chance < IN_CIRCLE, mates, celebrities)
    mentioned = np.where(chance >= 1 - ANYONE, random.integers(0, users, count), mentioned)
    tags = (circle * TAGS_OF_CIRCLE // 2 + _zipf(random, count, TAGS_OF_CIRCLE)).tolist()
    tagged = (random.random(count) < TAGGED).tolist()
    times = np.sort(random.integers(0, seconds, count))
    times[0], times[-1] = 0, seconds - 1
    columns = (authors + 1).tolist(), (mentioned + 1).tolist(), times.tolist()
    made = [
        Mention(author, other, f"#topic{tag}" if has_tag else None, second)
        for author, other, second, tag, has_tag in zip(*columns, tags, tagged, strict=True)
    ]
    return Stream(made, lambda number: f"@user{number}")


def _zipf(random: np.random.Generator, count: int, ranks: int) -> Numbers:
    """Draws `count` ranks from 0 on, rank r with a chance in proportion to 1 / (r + 1)."""
    heights = np.cumsum(1 / np.arange(1, ranks + 1))
    drawn: Numbers = np.searchsorted(heights, random.random(count) * heights[-1])
    return drawn


def read(path: Path) -> Stream:
    """Reads lines of `user,mentions,hashtag,time`, the first of which may be these names.

    `mentions` are names with spaces, commas or semicolons between, `@` before a name or not;
    `hashtag` may be empty; `time` is in seconds since the epoch or of ISO 8601. Raises BadMentions
    naming the line.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            found = sorted(_rows(path, file), key=lambda row: row[3])
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadMentions(f"{path} is no text of comma-separated values: {error}") from error
    if not found:
        raise BadMentions(f"{path}: no line has a mention")
    often = Counter(name for author, mentioned, *_ in found for name in (author, mentioned))
    names = [name for name, _ in sorted(often.items(), key=lambda item: (-item[1], item[0]))]
    numbers = {name: number for number, name in enumerate(names, 1)}
    mentions = [Mention(numbers[a], numbers[b], tag, second) for a, b, tag, second in found]
    return Stream(mentions, lambda number: names[number - 1])


def _rows(path: Path, file: Iterable[str]) -> Iterator[tuple[str, str, str | None, int]]:
    lines = csv.reader(file)
    for line in lines:
        number = lines.line_num
        if not line or (number == 1 and tuple(line) == COLUMNS):
            continue
        if len(line) != len(COLUMNS):
            raise BadMentions(f"{path}, line {number}: not of the form {','.join(COLUMNS)}")
        user, mentioned, tag, time = map(str.strip, line)
        author, *others = _names(user)
        if not author or others:
            raise BadMentions(f"{path}, line {number}: {user!r} is not one user")
        for name in filter(None, _names(mentioned)):
            yield author, name, tag or None, _second(path, number, time)


def _names(text: str) -> list[str]:
    return [name.removeprefix("@") for name in _BETWEEN.split(text)]


def _second(path: Path, number: int, time: str) -> int:
    for reading in (_of_number, datetime.fromisoformat):
        try:
            moment = reading(time)
        except (ValueError, OverflowError, OSError):
            continue
        return floor((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    raise BadMentions(
        f"{path}, line {number}: the time {time!r} is neither a number of seconds nor of the form "
        "2013-01-06T12:00:00Z"
    )


def _of_number(seconds: str) -> datetime:
    return datetime.fromtimestamp(float(seconds), UTC)
