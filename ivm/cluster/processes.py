"""Processes: a cluster whose members are processes of this machine."""

from multiprocessing import get_context
from multiprocessing.process import BaseProcess

from ivm.cluster import member
from ivm.cluster.pool import ClusterPool
from ivm.cluster.rendezvous import Rendezvous

LOOPBACK = "127.0.0.1"
COMING_SECONDS = 60.0
"""The time in which a process is to have started."""
ENDING_SECONDS = 10.0
"""The time in which it is to end once the cluster is over."""


class Processes(ClusterPool):
    """A pool of `members` processes of this machine; the `bounds` are those of `ClusterPool`.

    What these say to one another is `encrypted` where other users of the machine are to hear none.

    >>> with Processes(members=2) as pool:
    ...     [share.member for share in pool.shares()]
    [0, 1]
    """

    def __init__(self, members: int, *, encrypted: bool = False, **bounds: float) -> None:
        if members < 1:
            raise ValueError(f"members is {members}: at least one is needed")
        super().__init__(**bounds)
        self._processes: list[BaseProcess] = []
        rendezvous = Rendezvous(LOOPBACK, encrypted=encrypted)
        try:
            for number in range(members):
                self._begin(rendezvous, number)
            come = rendezvous.members(members, COMING_SECONDS, self._ended)
            self.start(come, rendezvous.credentials)
        except BaseException:
            self.close()
            raise
        finally:
            rendezvous.close()

    def close(self) -> None:
        """End the processes of all members."""
        super().close()
        for process in self._processes:
            process.join(ENDING_SECONDS)
            process.kill()  # one that does not end by itself, as it stands still
            process.join()

    def _begin(self, rendezvous: Rendezvous, number: int) -> None:
        """Start the process of a member."""
        arguments = (rendezvous.address, rendezvous.credentials, number)
        process = get_context("spawn").Process(target=member.run, args=arguments, daemon=True)
        process.start()
        self._processes.append(process)

    def _ended(self) -> str | None:
        """Why a member will not come, if its process has ended."""
        for number, process in enumerate(self._processes):
            if process.exitcode is not None:
                return f"the process of member {number} ended with code {process.exitcode}"
        return None
