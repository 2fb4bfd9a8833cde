"""A graph of followers: few are followed by many, and edges come and go."""

from collections.abc import Iterator

import numpy as np

from api.demo.changes import Change, Recorder

TOPIC = "follows"
# Of a hundred changes, so many take an edge away.
DELETES = 15


class Graph:
    """Makes changes of edges between accounts `1` to `accounts`; no edge is there twice."""

    def __init__(self, random: np.random.Generator, recorder: Recorder, accounts: int) -> None:
        self._random = random
        self._record = recorder
        self._accounts = accounts
        self._edges: list[tuple[int, int]] = []
        self._known: set[tuple[int, int]] = set()

    def changes(self, count: int) -> Iterator[Change]:
        """The next `count` changes."""
        made = 0
        while made < count:
            draws = self._random.random((count, 3))
            followers = (draws[:, 0] * self._accounts).astype(int) + 1
            followees = (draws[:, 1] ** 2 * self._accounts).astype(int) + 1
            drawn = zip(followers.tolist(), followees.tolist(), draws[:, 2].tolist(), strict=True)
            for follower, followee, chance in drawn:
                change = self._change((follower, followee), chance)
                if change is not None:
                    yield change
                    made += 1
                    if made == count:
                        return

    def _change(self, edge: tuple[int, int], chance: float) -> Change | None:
        """Delete some edge, or insert `edge` if it is new."""
        if self._edges and chance * 100 < DELETES:
            index = int(chance * 100 / DELETES * len(self._edges))
            gone, self._edges[index] = self._edges[index], self._edges[-1]
            self._edges.pop()
            self._known.remove(gone)
            return self._record.delete(TOPIC, _row(gone))
        if edge in self._known or edge[0] == edge[1]:
            return None
        self._edges.append(edge)
        self._known.add(edge)
        return self._record.insert(TOPIC, _row(edge))


def _row(edge: tuple[int, int]) -> dict[str, int]:
    return {"follower": edge[0], "followee": edge[1]}
