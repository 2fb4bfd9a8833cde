"""The engines on which a service is tried: a pool of its own, and shards that are threads."""

from threading import Thread

import pytest

from api.services import cluster
from ivm.cluster import member
from ivm.cluster.rendezvous import Rendezvous

ENGINES = ("alone", "cluster")
SHARDS = 2


def choose(engine: str, patch: pytest.MonkeyPatch) -> None:
    """Let services that are made from now on have this one of the engines."""
    if engine == "cluster":
        patch.setenv("IVM_CLUSTER", f'{{"shards": {SHARDS}}}')
        patch.setattr(cluster, "slots", lambda _: SHARDS + cluster.READING)
        patch.setattr(cluster, "Hosting", Threads)


class Threads:
    """Members in threads of this process, in the place of those that are tasks of Spark."""

    def __init__(self, _: None, rendezvous: Rendezvous, count: int) -> None:
        self._threads = [
            Thread(
                target=member.run, args=(rendezvous.address, rendezvous.credentials, n), daemon=True
            )
            for n in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def ended(self) -> str | None:
        """Nothing keeps them from coming."""
        return None

    def join(self, seconds: float) -> None:
        """Wait until all have ended, each for so long at most."""
        for thread in self._threads:
            thread.join(seconds)
