"""Offsets: the position of each source, and the offsets of topics that follow from them.

Several sources may read one topic and stand at different places in it, as one that was declared
later does. So a position belongs to a source and a partition; a source of a topic pattern stands
here as its streams, one for each topic (`connectors.streams`). A topic is reflected as far as the
source that is most behind in it: with `customers` at 650 and `late` at 0, both of topic `t`, what
is reflected of `t` is nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from connectors.streams import table_of

# partition -> the offset after the last record reflected
Ends = Mapping[int, int]
# Offsets from the first on, before the second, of which none has a record that can be read.
Gap = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Offsets:
    """Of each source its topic, and by partition the offset after the last record reflected.

    A partition of which nothing is reflected may be missing.
    """

    topics: Mapping[str, str] = field(default_factory=dict)
    positions: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @classmethod
    def of_source(cls, name: str, topic: str, ends: Ends) -> Self:
        """Those of one source."""
        return cls({name: topic}, {(name, partition): end for partition, end in ends.items()})

    def ends(self, source: str) -> Ends:
        """The positions of one source."""
        return {p: end for (name, p), end in sorted(self.positions.items()) if name == source}

    def covers(self, other: Self) -> bool:
        """Whether every position of `other` is reached."""
        return all(self.positions.get(at, 0) >= end for at, end in other.positions.items())

    def beyond(self, gaps: Mapping[tuple[str, int], Gap]) -> Self:
        """The positions at the far ends of the gaps, by topic and partition, that they stand in.

        >>> Offsets({"s": "t"}, {("s", 0): 5}).beyond({("t", 0): (5, 7)}).positions
        {('s', 0): 7}
        """
        positions = dict(self.positions)
        for (name, partition), position in self.positions.items():
            first, end = gaps.get((self.topics[name], partition), (0, 0))
            if first <= position < end:
                positions[name, partition] = end
        return type(self)(self.topics, positions)

    def join(self, other: Self) -> Self:
        """The greater position of both, of all their sources."""
        positions = dict(self.positions)
        for at, end in other.positions.items():
            positions[at] = max(end, positions.get(at, end))
        return type(self)({**self.topics, **other.topics}, positions)

    def of_table(self, table: str) -> dict[str, Ends]:
        """The positions of a source in each topic that it reads.

        >>> Offsets({"s:t": "t", "s:u": "u"}, {("s:t", 0): 5}).of_table("s")
        {'t': {0: 5}, 'u': {}}
        """
        return {t: self.ends(name) for name, t in self.topics.items() if table_of(name) == table}

    def without(self, source: str) -> Self:
        """Those of the other sources."""
        return type(self)(
            {name: topic for name, topic in self.topics.items() if table_of(name) != source},
            {at: end for at, end in self.positions.items() if table_of(at[0]) != source},
        )

    def by_source(self) -> dict[str, dict[int, int]]:
        """The positions of every source, also where it has none."""
        found: dict[str, dict[int, int]] = {name: {} for name in self.topics}
        for (name, partition), end in sorted(self.positions.items()):
            found[name][partition] = end
        return found

    def by_topic(self) -> dict[str, dict[int, int]]:
        """Of every topic the partitions that all its sources have begun, up to the least."""
        found: dict[str, dict[int, int]] = {}
        for name, ends in self.by_source().items():
            topic = self.topics[name]
            known = found.get(topic, ends)
            found[topic] = {p: min(known[p], end) for p, end in ends.items() if p in known}
        return {topic: ends for topic, ends in found.items() if ends}

    def told(self) -> dict[str, dict[str, dict[str, int]]]:
        """As records and answers have them: `offsets` by topic and `sources` by source."""
        return {"offsets": _named(self.by_topic()), "sources": _named(self.by_source())}


def offsets_of(topics: Mapping[str, str], positions: Mapping[tuple[str, int], int]) -> Offsets:
    """The positions of the sources in `topics`, among those of others."""
    return Offsets(topics, {at: end for at, end in positions.items() if at[0] in topics})


def grouped(offsets: Mapping[tuple[str, int], int]) -> dict[str, dict[int, int]]:
    """Offsets by (topic, partition), or by (stream, partition), by the first of these.

    >>> grouped({("t", 0): 5, ("u", 1): 7, ("t", 2): 0})
    {'t': {0: 5, 2: 0}, 'u': {1: 7}}
    """
    found: dict[str, dict[int, int]] = {}
    for (name, partition), offset in offsets.items():
        found.setdefault(name, {})[partition] = offset
    return found


def _named(found: Mapping[str, Ends]) -> dict[str, dict[str, int]]:
    """With partitions as JSON has the names of members."""
    return {name: {str(p): end for p, end in ends.items()} for name, ends in found.items()}
