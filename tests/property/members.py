"""A cluster whose members are threads: all of it but processes, and started in no time."""

from threading import Thread

from ivm.cluster import member
from ivm.cluster.processes import Processes
from ivm.cluster.rendezvous import Rendezvous


class Threads(Processes):
    """A pool of members that are threads of this process, each with an engine of its own."""

    def __init__(self, members: int, *, encrypted: bool = False, **bounds: float) -> None:
        self._threads: list[Thread] = []
        super().__init__(members, encrypted=encrypted, **bounds)

    def _begin(self, rendezvous: Rendezvous, number: int) -> None:
        arguments = (rendezvous.address, rendezvous.credentials, number)
        thread = Thread(target=member.run, args=arguments, daemon=True)
        thread.start()
        self._threads.append(thread)

    def close(self) -> None:
        """End the threads of all members."""
        super().close()
        for thread in self._threads:
            thread.join()
