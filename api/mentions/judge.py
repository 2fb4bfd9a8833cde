"""The judge compares the delta topics at random cuts with networkx over the input topics alone.

A frontier record says which input offsets its time reflects. The judge sums a delta topic up to
it, and computes the components anew from the input records before these offsets.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import networkx as nx
import orjson

from api.mentions.frontiers import reflected
from api.mentions.views import COMPONENTS, MENTIONS, TOPICS, WINDOW
from connectors.files.reader import TopicReader

AT_ONCE = 100_000  # records
Rows = Counter[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Cut:
    """A time of the delta topics, and the input offsets that it reflects, by topic."""

    time: int
    offsets: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The components of a cut; `faults` tells where they are not those that networkx finds."""

    time: int
    window: tuple[int, int]
    mentions: int
    components: int
    faults: tuple[str, ...]


class Judge:
    """Reads the topics below `topics` from their beginnings."""

    def __init__(self, topics: Path, random: Random) -> None:
        self._topics = topics
        self._random = random
        self._mentions = [
            (m["author"], m["mentioned"], m["tag"], m["second"]) for m in self._lines(MENTIONS)
        ]
        self._window = [(w["second"], w["__deleted"] == "true") for w in self._lines(WINDOW)]

    def verdicts(self, count: int) -> Iterator[Verdict]:
        """Judges so many cuts at random, and the last, in their order."""
        cuts = self._cuts(count)
        found = {view: self._sums(view, cuts) for view in (COMPONENTS, TOPICS)}
        for cut, components, topics in zip(cuts, found[COMPONENTS], found[TOPICS], strict=True):
            yield self._verdict(cut, components, topics)

    def expected(self, offsets: Mapping[str, int]) -> tuple[tuple[int, int], int, Rows, Rows]:
        """The window at these input offsets, its mentions, and the rows of both views."""
        deleted = dict(self._window[: offsets[WINDOW]])
        window = {second for second, is_deleted in deleted.items() if not is_deleted}
        recent = [m for m in self._mentions[: offsets[MENTIONS]] if m[3] in window]
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_edges_from((author, mentioned) for author, mentioned, *_ in recent)
        least = {n: min(part) for part in nx.strongly_connected_components(graph) for n in part}
        cyclic = [(s, d, least[s]) for s, d in graph.edges if least[s] == least[d]]
        members = {src: component for src, _, component in cyclic}
        uses = Counter(
            (members[author], tag) for author, _, tag, _ in recent if tag and author in members
        )
        top: dict[int, tuple[str, int]] = {}
        for (component, tag), count in sorted(uses.items(), key=lambda u: (-u[1], u[0][1])):
            top.setdefault(component, (tag, count))
        topics = Counter(
            (component, size, *top.get(component, (None, None)))
            for component, size in Counter(members.values()).items()
        )
        ends = min(window, default=0), max(window, default=0)
        return ends, len(recent), Counter(cyclic), topics

    def _verdict(self, cut: Cut, components: Rows, topics: Rows) -> Verdict:
        window, mentions, *expected = self.expected(cut.offsets)
        faults = tuple(
            f"{view} at time {cut.time}: {(found - right).total()} rows too many, "
            f"{(right - found).total()} missing"
            for view, found, right in zip(
                (COMPONENTS, TOPICS), (components, topics), expected, strict=True
            )
            if found != right
        )
        return Verdict(cut.time, window, mentions, len(expected[1]), faults)

    def _cuts(self, count: int) -> Sequence[Cut]:
        """Cuts that both delta topics tell of, once there was a window."""
        times = set(self._frontiers(TOPICS)).intersection(self._frontiers(COMPONENTS))
        offsets = self._frontiers(TOPICS)
        cuts = [Cut(time, offsets[time]) for time in sorted(times) if offsets[time][WINDOW]]
        *others, last = cuts
        chosen = self._random.sample(others, min(count, len(others)))
        return [*sorted(chosen, key=lambda cut: cut.time), last]

    def _frontiers(self, view: str) -> dict[int, Mapping[str, int]]:
        return {
            line["frontier"]: reflected(line)
            for line in self._lines(f"deltas.{view}")
            if "frontier" in line
        }

    def _sums(self, view: str, cuts: Sequence[Cut]) -> Iterator[Rows]:
        """The sum of a view's deltas up to each cut."""
        rows: Rows = Counter()
        left = iter([cut.time for cut in cuts])
        cut = next(left)
        for line in self._lines(f"deltas.{view}"):
            if "row" in line:
                rows[tuple(line["row"].values())] += line["diff"]
            elif line.get("frontier") == cut:
                yield Counter({row: diff for row, diff in rows.items() if diff})
                if (following := next(left, None)) is None:
                    return
                cut = following

    def _lines(self, topic: str) -> Iterator[Any]:
        reader, read = TopicReader(self._topics, topic), 0
        while lines := reader.read(0, read, AT_ONCE):
            read += len(lines)
            yield from map(orjson.loads, lines)
